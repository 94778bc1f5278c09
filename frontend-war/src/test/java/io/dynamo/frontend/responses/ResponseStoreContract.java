package io.dynamo.frontend.responses;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import io.dynamo.concurrent.Deadline;
import io.dynamo.config.frontend.ConversationBounds;
import io.dynamo.config.frontend.ResponsesSettings;
import io.dynamo.config.frontend.ResponsesSettings.Storing;
import io.dynamo.frontend.ApiException;
import io.dynamo.metrics.Metrics;
import java.nio.charset.StandardCharsets;
import java.nio.file.Path;
import java.time.Duration;
import java.time.Instant;
import java.time.InstantSource;
import java.util.ArrayList;
import java.util.List;
import java.util.Random;
import java.util.concurrent.atomic.AtomicLong;
import org.jspecify.annotations.Nullable;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;

/** Tests that hold for each kind of database that responses are stored in. */
abstract class ResponseStoreContract {
  static final Duration PATIENCE = Duration.ofSeconds(30);
  static final byte[] EMPTY = "[]".getBytes(StandardCharsets.US_ASCII);

  private final List<ResponseStore> opened = new ArrayList<>();
  long now = 1_800_000_000_000L;
  final Metrics metrics = new Metrics();

  /** The settings of an empty database, the same each time. */
  abstract ResponsesSettings settings();

  static ResponsesSettings bounds(ResponsesSettings of, int responses, long bytes, int queue) {
    return new ResponsesSettings(
        of.storing(),
        of.database(),
        of.user(),
        of.password(),
        of.folder(),
        of.maxAge(),
        responses,
        bytes,
        of.maxInputBytes(),
        queue,
        of.conversations());
  }

  static ResponsesSettings standard(@Nullable String url, @Nullable String user, Path folder) {
    return new ResponsesSettings(
        Storing.ON_REQUEST,
        url,
        user,
        null,
        folder,
        Duration.ofHours(1),
        1000,
        1 << 30,
        8 << 20,
        32 << 20,
        new ConversationBounds(100, 1 << 20));
  }

  ResponseStore open(ResponsesSettings settings) {
    InstantSource clock = () -> Instant.ofEpochMilli(now);
    var store = new ResponseStore(settings, clock, metrics);
    store.start();
    opened.add(store);
    return store;
  }

  static Deadline soon() {
    return Deadline.after(PATIENCE);
  }

  StoredResponse response(@Nullable String previous, String text) {
    return new StoredResponse(
        ResponseIds.next(), previous, now, EMPTY, text.getBytes(StandardCharsets.UTF_8));
  }

  StoredResponse written(ResponseStore store, @Nullable String previous, String text)
      throws InterruptedException {
    var response = response(previous, text);
    store.store(response);
    assertThat(store.awaitRest(PATIENCE)).isTrue();
    return response;
  }

  static final ResponseStore.Room ROOM = _ -> {};

  @AfterEach
  void close() {
    opened.forEach(ResponseStore::close);
  }

  @Test
  void storedResponseIsFoundWithEveryByte() throws InterruptedException {
    var store = open(settings());
    var bytes = new byte[3 << 20]; // above what H2 takes as a value
    new Random(1).nextBytes(bytes);
    var stored =
        new StoredResponse(
            ResponseIds.next(),
            null,
            now,
            "[\"ü\\u0000\"]".getBytes(StandardCharsets.UTF_8),
            bytes);

    store.store(stored);
    assertThat(store.awaitRest(PATIENCE)).isTrue();

    assertThat(store.find(stored.id(), soon(), ROOM))
        .hasValueSatisfying(
            found -> {
              assertThat(found.answer()).isEqualTo(bytes);
              assertThat(found.input()).isEqualTo(stored.input());
              assertThat(found.previousId()).isNull();
              assertThat(found.createdMillis()).isEqualTo(now);
            });
  }

  @Test
  void responsesOutliveTheServer() throws InterruptedException {
    var store = open(settings());
    var stored = response(null, "{}");
    store.store(stored);
    store.close(); // writes what waits

    assertThat(open(settings()).find(stored.id(), soon(), ROOM)).isPresent();
  }

  @Test
  void conversationIsFoundOldestFirst() throws InterruptedException {
    var store = open(settings());
    var first = written(store, null, "1");
    var second = written(store, first.id(), "2");
    var other = written(store, first.id(), "another second");
    var third = written(store, second.id(), "3");

    assertThat(store.chain(third.id(), 1 << 20, soon(), ROOM))
        .isInstanceOfSatisfying(
            ResponseChain.Complete.class,
            it ->
                assertThat(it.turns().stream().map(StoredResponse::id))
                    .containsExactly(first.id(), second.id(), third.id()));
    assertThat(store.find(other.id(), soon(), ROOM)).isPresent();
  }

  @Test
  void conversationWithAMissingResponseSaysWhich() throws InterruptedException {
    var store = open(settings());
    var first = written(store, null, "1");
    var second = written(store, first.id(), "2");

    assertThat(store.delete(first.id(), soon())).isTrue();

    assertThat(store.chain(second.id(), 1 << 20, soon(), ROOM))
        .isEqualTo(new ResponseChain.Missing(first.id()));
  }

  @Test
  void conversationIsBoundedInBytes() throws InterruptedException {
    var store = open(settings());
    var first = written(store, null, "x".repeat(1000));
    var second = written(store, first.id(), "x".repeat(1000));

    assertThat(store.chain(second.id(), 2000, soon(), ROOM))
        .isEqualTo(new ResponseChain.TooLong("2000 bytes"));
  }

  @Test
  void deletedResponseIsGoneForGood() throws InterruptedException {
    var store = open(settings());
    var stored = written(store, null, "{}");

    assertThat(store.delete(stored.id(), soon())).isTrue();

    assertThat(store.delete(stored.id(), soon())).isFalse();
    assertThat(store.find(stored.id(), soon(), ROOM)).isEmpty();
  }

  @ParameterizedTest
  @ValueSource(
      strings = {
        "",
        "resp_",
        "resp_' OR '1'='1",
        "resp_00000000000000000000000000000000; DROP TABLE dynamo_responses",
        "RESP_00000000000000000000000000000000",
        "resp_0000000000000000000000000000000g",
        "resp_0000000000000000000000000000000\u0000",
        "../../etc/passwd",
        "%",
      })
  void hostileIdsFindNothing(String id) throws InterruptedException {
    var store = open(settings());
    var stored = written(store, null, "{}");

    assertThat(store.find(id, soon(), ROOM)).isEmpty();
    assertThat(store.delete(id, soon())).isFalse();
    assertThat(store.chain(id, 1 << 20, soon(), ROOM)).isEqualTo(new ResponseChain.Missing(id));
    assertThat(store.find(stored.id(), soon(), ROOM)).isPresent();
  }

  @Test
  void oldestAreDeletedWhenThereAreTooMany() throws InterruptedException {
    var store = open(bounds(settings(), 3, 1 << 30, 1 << 20));
    var ids = new ArrayList<String>();
    for (int i = 0; i < 8; i++) {
      now++;
      ids.add(written(store, null, "{}").id());
    }

    for (int i = 0; i < 8; i++) {
      assertThat(store.find(ids.get(i), soon(), ROOM).isPresent()).as("%d", i).isEqualTo(i >= 5);
    }
  }

  @Test
  void oldestAreDeletedWhenTheyAreTooLarge() throws InterruptedException {
    var store = open(bounds(settings(), 1000, 1 << 20, 8 << 20));
    var ids = new ArrayList<String>();
    for (int i = 0; i < 5; i++) {
      now++;
      ids.add(written(store, null, "x".repeat(300_000)).id());
    }

    assertThat(store.find(ids.get(1), soon(), ROOM)).isEmpty();
    assertThat(store.find(ids.get(2), soon(), ROOM)).isPresent();
  }

  @Test
  void tooOldResponsesAreNotFoundAndAreDeletedAtTheNextStart() throws InterruptedException {
    var store = open(settings());
    var stored = written(store, null, "{}");

    now += Duration.ofHours(1).toMillis() + 1;
    assertThat(store.find(stored.id(), soon(), ROOM)).isEmpty();
    store.close();
    written(open(settings()), null, "{}"); // opened, and swept
    now -= Duration.ofHours(1).toMillis() + 1;

    assertThat(open(settings()).find(stored.id(), soon(), ROOM)).isEmpty();
  }

  @Test
  void roomIsReservedBeforeTextsAreLoaded() throws InterruptedException {
    var store = open(settings());
    var first = written(store, null, "x".repeat(1000));
    var second = written(store, first.id(), "x".repeat(5000));
    var reserved = new AtomicLong();

    store.chain(second.id(), 1 << 20, soon(), reserved::set);
    assertThat(reserved.get()).isBetween(6000L + 2 * 5000, 20_000L);
    store.find(second.id(), soon(), reserved::set);
    assertThat(reserved.get()).isBetween(3 * 5000L, 17_000L);

    ResponseStore.Room none =
        _ -> {
          throw new ApiException(503, "no room");
        };
    assertThatThrownBy(() -> store.chain(second.id(), 1 << 20, soon(), none))
        .hasMessageContaining("no room");
    assertThatThrownBy(() -> store.find(second.id(), soon(), none)).hasMessageContaining("no room");
  }

  @Test
  void responseAboveTheBoundOfAllIsLostAndCounted() throws InterruptedException {
    var store = open(bounds(settings(), 1000, 1 << 20, 8 << 20));
    var kept = written(store, null, "{}");

    store.store(response(null, "x".repeat(1 << 20)));

    assertThat(metrics.counter(ResponseMetrics.LOST).value()).isOne();
    assertThat(store.awaitRest(PATIENCE)).isTrue();
    assertThat(store.find(kept.id(), soon(), ROOM)).as("not deleted for it").isPresent();
  }

  @Test
  void responsesWithoutRoomInTheQueueAreLostAndCounted() {
    var store = open(bounds(settings(), 1000, 1 << 30, 1000));

    store.store(response(null, "x".repeat(2000)));

    assertThat(metrics.counter(ResponseMetrics.LOST).value()).isOne();
  }

  @Test
  void twoFrontendsMayWriteTheSameResponse() throws InterruptedException {
    var store = open(settings());
    var stored = written(store, null, "{}");
    store.store(stored); // as after a commit whose answer was lost
    var next = response(null, "{}");
    store.store(next);
    assertThat(store.awaitRest(PATIENCE)).isTrue();

    assertThat(store.find(next.id(), soon(), ROOM)).isPresent();
    assertThat(metrics.counter(ResponseMetrics.LOST).value()).isZero();
  }
}
