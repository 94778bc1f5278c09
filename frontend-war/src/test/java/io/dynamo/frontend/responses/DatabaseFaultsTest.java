package io.dynamo.frontend.responses;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;
import static org.assertj.core.api.Assertions.fail;

import io.dynamo.concurrent.Deadline;
import io.dynamo.config.frontend.ResponsesSettings;
import io.dynamo.frontend.ApiException;
import io.dynamo.metrics.Metrics;
import java.nio.charset.StandardCharsets;
import java.nio.file.Path;
import java.sql.SQLException;
import java.time.Duration;
import java.time.Instant;
import java.util.ArrayList;
import java.util.List;
import java.util.concurrent.CountDownLatch;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.atomic.AtomicBoolean;
import java.util.concurrent.atomic.AtomicInteger;
import java.util.concurrent.locks.LockSupport;
import java.util.function.BooleanSupplier;
import org.jspecify.annotations.Nullable;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

/** Stored responses when statements fail, hang or meet a bound. */
class DatabaseFaultsTest {
  private static final Duration PATIENCE = Duration.ofSeconds(30);
  private static final String DELETE_ONE = "DELETE FROM dynamo_responses WHERE id = ?";
  private static final ResponseStore.Room ROOM = _ -> {};

  @TempDir Path folder;
  private final Metrics metrics = new Metrics();
  private final CountDownLatch release = new CountDownLatch(1);
  private long now = 1_800_000_000_000L;
  private FaultyDatabase database = new FaultyDatabase(new EmbeddedDatabase(Path.of("unused")));
  private @Nullable ResponseStore opened;

  @BeforeEach
  void prepare() {
    database = new FaultyDatabase(new EmbeddedDatabase(folder.resolve("responses")));
  }

  @AfterEach
  void close() {
    release.countDown();
    if (opened != null) {
      opened.close();
    }
  }

  /** Opens a store, after the one before is closed. */
  private ResponseStore open(int maxResponses) {
    if (opened != null) {
      opened.close();
    }
    ResponsesSettings settings =
        ResponseStoreContract.bounds(
            ResponseStoreContract.standard(null, null, folder), maxResponses, 1 << 30, 1 << 20);
    var store = new ResponseStore(settings, database, () -> Instant.ofEpochMilli(now), metrics);
    store.start();
    opened = store;
    return store;
  }

  private StoredResponse response() {
    return response(null);
  }

  private StoredResponse response(@Nullable String previous) {
    return new StoredResponse(
        ResponseIds.next(),
        previous,
        now,
        ResponseStoreContract.EMPTY,
        "{}".getBytes(StandardCharsets.US_ASCII));
  }

  private StoredResponse written(ResponseStore store) throws InterruptedException {
    var response = response();
    store.store(response);
    assertThat(store.awaitRest(PATIENCE)).isTrue();
    return response;
  }

  private static Deadline soon() {
    return Deadline.after(PATIENCE);
  }

  private static void await(BooleanSupplier event) {
    var deadline = soon();
    while (!event.getAsBoolean()) {
      if (deadline.isExpired()) {
        fail("it did not happen");
      }
      LockSupport.parkNanos(TimeUnit.MILLISECONDS.toNanos(1));
    }
  }

  /** Waits for {@link #release}, on a thread of the store. */
  private void hang() {
    try {
      if (!release.await(PATIENCE.toSeconds(), TimeUnit.SECONDS)) {
        throw new AssertionError("never released");
      }
    } catch (InterruptedException e) {
      throw new AssertionError(e);
    }
  }

  @Test
  void tableIsNotCountedAtEachWriteNorTrimmedForEachRow() throws InterruptedException {
    var store = open(160);
    for (int i = 0; i < 220; i++) {
      now++;
      written(store);
    }

    assertThat(database.count("COUNT(*)")).isLessThan(10);
    assertThat(database.count(DELETE_ONE)).isBetween(3L, 20L);
  }

  @Test
  void failingSweepFailsNoWrite() throws InterruptedException {
    database.fault =
        (sql, _) -> {
          if (sql.startsWith("DELETE") || sql.contains("COUNT(*)")) {
            throw new SQLException("no right to delete", "42501");
          }
        };
    var store = open(2);

    for (int i = 0; i < 5; i++) {
      now++;
      assertThat(store.find(written(store).id(), soon(), ROOM)).isPresent();
    }
    assertThat(metrics.counter(ResponseMetrics.LOST).value()).isZero();
  }

  @Test
  void oldRowsAreDeletedInSteps() throws InterruptedException {
    var store = open(10_000);
    var all = new ArrayList<StoredResponse>();
    for (int i = 0; i < 1100; i++) {
      all.add(response());
      store.store(all.getLast());
    }
    assertThat(store.awaitRest(PATIENCE)).isTrue();
    store.close();
    database.statements.clear();
    now += Duration.ofHours(2).toMillis();

    written(open(10_000));

    assertThat(database.count("created < ?")).isEqualTo(3);
    now -= Duration.ofHours(2).toMillis();
    assertThat(open(10_000).find(all.get(7).id(), soon(), ROOM)).isEmpty();
  }

  @Test
  void conversationIsFoundThatIsWrittenWhileAReaderFindsNoTable() throws Exception {
    // its classes are loaded before a reader, which waits for a few seconds only, waits for it
    var other = new EmbeddedDatabase(folder.resolve("other"));
    try (var connection = other.open()) {
      var table = new ResponseTable(connection);
      table.create(other);
      table.add(List.of(new PendingWrite("1", response(), null)));
    }
    var asked = new AtomicBoolean();
    database.opening =
        () -> {
          database.opening = () -> {};
          hang(); // the writer, until a reader looked
        };
    var store = open(100);
    var first = response();
    var second = response(first.id());
    database.foundEmpty =
        () -> {
          if (Thread.currentThread().getName().matches("dynamo-responses-\\d+")) {
            asked.set(true);
            release.countDown();
            await(() -> metrics.counter(ResponseMetrics.WRITTEN).value() == 2);
          }
        };
    store.store(first);
    store.store(second);

    assertThat(store.chain(second.id(), 1 << 20, soon(), ROOM))
        .isEqualTo(new ResponseChain.Complete(List.of(first, second)));
    assertThat(asked).isTrue();
  }

  @Test
  void tableAndIndexAreOneStatement() throws Exception {
    written(open(100));

    assertThat(database.count("CREATE")).isOne();
    try (var connection = database.open();
        var indexes =
            connection.getMetaData().getIndexInfo(null, null, "DYNAMO_RESPONSES", false, false)) {
      var columns = new ArrayList<String>();
      while (indexes.next()) {
        columns.add(indexes.getString("COLUMN_NAME"));
      }
      assertThat(columns).contains("CREATED");
    }
  }

  @Test
  void faultOfADriverDoesNotEndTheWriter() throws InterruptedException {
    var once = new AtomicBoolean();
    database.fault =
        (sql, _) -> {
          if (sql.startsWith("CREATE") && once.compareAndSet(false, true)) {
            throw new IllegalStateException("a fault of the driver");
          }
        };

    var stored = written(open(100));

    assertThat(once).isTrue();
    assertThat(requireOpened().find(stored.id(), soon(), ROOM)).isPresent();
  }

  private ResponseStore requireOpened() {
    if (opened == null) {
      throw new AssertionError("no store");
    }
    return opened;
  }

  @Test
  void responseThatCannotBeWrittenHoldsUpNoOtherAndIsLostInTheEnd() {
    var store = open(1000);
    var poison = response();
    database.fault =
        (sql, key) -> {
          if (sql.startsWith("INSERT") && poison.id().equals(key)) {
            store.store(response()); // there is always another
            throw new SQLException("it is too wide", "54000");
          }
        };

    store.store(poison);

    await(() -> metrics.counter(ResponseMetrics.LOST).value() == 1);
    assertThat(metrics.counter(ResponseMetrics.WRITTEN).value())
        .isGreaterThanOrEqualTo(ResponseWriter.TRIES);
  }

  @Test
  void responsesAreKeptWhileTheDatabaseTakesNone() throws InterruptedException {
    var takes = new AtomicBoolean();
    var refused = new AtomicInteger();
    database.fault =
        (sql, _) -> {
          if (sql.startsWith("INSERT") && !takes.get()) {
            refused.incrementAndGet();
            throw new SQLException("the disk is full", "53100");
          }
        };
    var store = open(1000);
    var stored = response();
    store.store(stored);
    await(() -> refused.get() > 2);
    takes.set(true);

    assertThat(store.awaitRest(PATIENCE)).isTrue();
    assertThat(store.find(stored.id(), soon(), ROOM)).isPresent();
    assertThat(metrics.counter(ResponseMetrics.LOST).value()).isZero();
  }

  @Test
  void deletionThatWasGivenUpIsNotDoneLater() throws InterruptedException {
    var store = open(100);
    var stored = written(store);
    var writing = new CountDownLatch(1);
    database.fault =
        (sql, _) -> {
          if (sql.startsWith("INSERT")) {
            writing.countDown();
            hang();
          }
        };
    store.store(response());
    assertThat(writing.await(30, TimeUnit.SECONDS)).isTrue();

    assertThatThrownBy(() -> store.delete(stored.id(), Deadline.after(Duration.ofMillis(50))))
        .isInstanceOf(ApiException.class);
    release.countDown();
    assertThat(store.awaitRest(PATIENCE)).isTrue();
    store.close();

    assertThat(database.count(DELETE_ONE)).isZero();
    assertThat(open(100).find(stored.id(), soon(), ROOM)).isPresent();
  }

  @Test
  void givenUpQuestionIsNotAskedAgain() throws InterruptedException {
    written(open(100));
    var readers = new DatabaseReaders(database);
    int first = readers.ask(_ -> 1, soon()); // leaves a connection in the pool
    assertThat(first).isOne();
    var asked = new AtomicInteger();

    assertThatThrownBy(
            () ->
                readers.ask(
                    _ -> {
                      asked.incrementAndGet();
                      hang();
                      throw new SQLException("broken", "08006");
                    },
                    Deadline.after(Duration.ofMillis(50))))
        .isInstanceOf(ApiException.class)
        .hasMessageContaining("in time");
    release.countDown();
    assertThat(readers.close(PATIENCE)).isTrue();

    assertThat(asked.get()).isLessThanOrEqualTo(1);
  }

  @Test
  void faultOfTheCodeIsNotCalledAFailureOfTheDatabase() throws InterruptedException {
    var readers = new DatabaseReaders(database);

    assertThatThrownBy(
            () ->
                readers.ask(
                    _ -> {
                      throw new IllegalStateException("a fault");
                    },
                    soon()))
        .isInstanceOf(IllegalStateException.class)
        .hasMessage("a fault");
    assertThatThrownBy(
            () ->
                readers.ask(
                    _ -> {
                      throw new StackOverflowError("a fault");
                    },
                    soon()))
        .isInstanceOf(StackOverflowError.class);
    assertThat(readers.close(PATIENCE)).isTrue();
  }

  @Test
  void connectionThatHangsHoldsUpNoOther() throws Exception {
    written(open(100));
    var readers = new DatabaseReaders(database);
    var connecting = new CountDownLatch(1);
    database.opening =
        () -> {
          database.opening = () -> {};
          connecting.countDown();
          hang();
        };
    var hanging =
        Thread.ofVirtual()
            .start(
                () -> {
                  try {
                    readers.ask(_ -> 1, soon());
                  } catch (InterruptedException e) {
                    throw new AssertionError(e);
                  }
                });
    assertThat(connecting.await(30, TimeUnit.SECONDS)).isTrue();

    int second = readers.ask(_ -> 2, soon());
    assertThat(second).isEqualTo(2);

    release.countDown();
    assertThat(hanging.join(PATIENCE)).isTrue();
    assertThat(readers.close(PATIENCE)).isTrue();
  }
}
