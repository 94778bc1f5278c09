package io.dynamo.frontend.batches;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import io.dynamo.config.frontend.BatchesSettings;
import io.dynamo.config.frontend.ResponsesSettings;
import io.dynamo.frontend.ApiException;
import io.dynamo.metrics.Metrics;
import java.nio.charset.StandardCharsets;
import java.time.Duration;
import java.time.Instant;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.atomic.AtomicLong;
import java.util.concurrent.locks.LockSupport;
import java.util.function.BooleanSupplier;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.Test;

/** Files and batches on each kind of database, with lines that a test answers. */
abstract class BatchContract {
  static final Duration PATIENCE = Duration.ofMinutes(1);
  static final String ME = "me";

  private final List<AutoCloseable> opened = new ArrayList<>();
  final AtomicLong now = new AtomicLong(1_800_000_000_000L);
  final ScriptedLines lines = new ScriptedLines();
  final BatchesSettings settings =
      new BatchesSettings(true, 3, 2, 1 << 20, 1024, 1000, 4 << 20, 100, 10, Duration.ofHours(10));

  /** The settings of an empty database, the same each time. */
  abstract ResponsesSettings database();

  BatchStore open() {
    var store =
        new BatchStore(settings, database(), () -> Instant.ofEpochMilli(now.get()), PATIENCE);
    opened.add(store);
    return store;
  }

  BatchRunner run(BatchStore store) {
    var runner = new BatchRunner(store, lines, new Metrics());
    opened.add(runner);
    runner.start();
    return runner;
  }

  @AfterEach
  void close() throws Exception {
    for (var one : opened.reversed()) {
      one.close();
    }
  }

  static void await(String what, BooleanSupplier condition) {
    long until = System.nanoTime() + PATIENCE.toNanos();
    while (!holds(condition)) {
      assertThat(System.nanoTime()).as("time for: " + what).isLessThan(until);
      LockSupport.parkNanos(5_000_000);
    }
  }

  /** A database that does not answer yet means no. */
  private static boolean holds(BooleanSupplier condition) {
    try {
      return condition.getAsBoolean();
    } catch (ApiException unavailable) {
      return false;
    }
  }

  static StoredFile upload(BatchStore store, String text) throws InterruptedException {
    try (var upload = store.files().upload(ME)) {
      upload.append(text.getBytes(StandardCharsets.UTF_8));
      return upload.complete("in.jsonl", store.keep(0));
    }
  }

  StoredBatch create(BatchStore store, String text) throws InterruptedException {
    return create(store, upload(store, text).id(), Duration.ofHours(1));
  }

  static StoredBatch create(BatchStore store, String file, Duration window)
      throws InterruptedException {
    return store.create(
        new BatchStore.NewBatch(
            ME, "", ScriptedLines.ENDPOINT, file, "1h", window, store.keep(0), ""));
  }

  StoredBatch ended(BatchStore store, StoredBatch batch) throws InterruptedException {
    await("the end of the batch", () -> found(store, batch).status().isOver());
    return found(store, batch);
  }

  static StoredBatch found(BatchStore store, StoredBatch batch) {
    try {
      return store.find(ME, batch.id()).orElseThrow();
    } catch (InterruptedException e) {
      throw new IllegalStateException(e);
    }
  }

  static String text(BatchStore store, String file) throws InterruptedException {
    var text = new StringBuilder();
    for (var run = store.files().next(file, 0);
        run.isPresent();
        run = store.files().next(file, run.get().last() + 1)) {
      for (var piece : store.files().load(run.get())) {
        text.append(new String(piece, StandardCharsets.UTF_8));
      }
    }
    return text.toString();
  }

  @Test
  void linesAreAnsweredInTheOrderOfTheInputAndErrorsHaveAFileOfTheirOwn() throws Exception {
    var store = open();
    var batch = create(store, "a\n\nb\r\nc"); // an empty line, and no line end behind the last
    lines.answers = line -> ScriptedLines.status(line.startsWith("b") ? 400 : 200, line);
    run(store).wake();

    var done = ended(store, batch);

    assertThat(done.status()).isEqualTo(BatchStatus.COMPLETED);
    assertThat(List.of(done.total(), done.completed(), done.failed())).containsExactly(3L, 2L, 1L);
    assertThat(text(store, done.outputFile())).isEqualTo("a=200\nc=200\n");
    assertThat(text(store, done.errorFile())).startsWith("b").endsWith("=400\n");
    assertThat(store.files().find(ME, done.outputFile()).orElseThrow().bytes()).isEqualTo(12);
    assertThat(store.files().find("other", done.outputFile())).isEmpty();
    assertThat(store.find("other", batch.id())).isEmpty();
  }

  @Test
  void noMoreRequestsRunAtOnceThanAllowed() throws Exception {
    var store = open();
    var waiting = new ArrayList<CompletableFuture<BatchLines.Outcome>>();
    lines.answers =
        line -> {
          var outcome = new CompletableFuture<BatchLines.Outcome>();
          synchronized (waiting) {
            waiting.add(outcome);
          }
          return outcome;
        };
    var one = create(store, "a\nb\nc\nd\ne\n");
    var other = create(store, "f\ng\nh\n");
    run(store).wake();

    await(
        "all lines",
        () -> {
          synchronized (waiting) {
            waiting.forEach(it -> it.complete(ScriptedLines.outcome(200, "", false, null)));
            waiting.clear();
          }
          return found(store, one).status().isOver() && found(store, other).status().isOver();
        });

    assertThat(lines.mostRunning.get()).isBetween(1, 3);
    assertThat(lines.asked).hasSize(8);
  }

  @Test
  void refusedLinesAreSentAgainAndFailuresAFewTimes() throws Exception {
    var store = open();
    lines.answers =
        line ->
            ScriptedLines.status(
                switch (line) {
                  case "refused" -> count(line) < 3 ? 503 : 200;
                  case "broken" -> 500;
                  default -> 200;
                },
                line);
    var batch = create(store, "refused\nbroken\nwell\n");
    run(store).wake();

    var done = ended(store, batch);

    assertThat(text(store, done.outputFile())).isEqualTo("refused=200\nwell=200\n");
    assertThat(text(store, done.errorFile())).isEqualTo("broken=500\n");
    assertThat(count("refused")).isEqualTo(3);
    assertThat(count("broken")).isEqualTo(3);
  }

  @Test
  void linesWaitForAModelThatIsNotThereYetButNotForOneThatStaysAway() throws Exception {
    var store = open();
    lines.answers =
        line -> {
          if (line.equals("late")) {
            return ScriptedLines.status(count(line) < 2 ? 404 : 200, line);
          }
          now.addAndGet(MissingModels.PATIENCE.toMillis() / 2);
          return ScriptedLines.status(404, "none");
        };
    var late = create(store, "late\n");
    var runner = run(store);
    runner.wake();
    assertThat(ended(store, late).completed()).isOne();

    var never = create(store, "x0\nx1\nx2\nx3\nx4\nx5\nx6\nx7\nx8\nx9\n");
    runner.wake();

    assertThat(ended(store, never).failed()).isEqualTo(10);
    assertThat(count("x9")).as("the model is known to be missing").isOne();
  }

  private long count(String line) {
    return lines.asked.stream().filter(line::equals).count();
  }

  @Test
  void batchGoesOnAfterARestartWithTheLinesThatHaveNoResult() throws Exception {
    var first = open();
    lines.answers =
        line ->
            line.compareTo("c") < 0
                ? ScriptedLines.well(line)
                : new CompletableFuture<BatchLines.Outcome>();
    var batch = create(first, "a\nb\nc\nd\n");
    var runner = run(first);
    runner.wake();
    await("the first lines", () -> hasResults(first, batch, 2) && lines.asked.contains("d"));
    runner.close();
    first.close();
    lines.asked.clear();
    lines.answers = ScriptedLines::well;

    var second = open();
    now.addAndGet(BatchClaims.LEASE.toMillis() + 1); // where others may have it
    run(second).wake();
    var done = ended(second, batch);

    assertThat(lines.asked).containsExactlyInAnyOrder("c", "d");
    assertThat(text(second, done.outputFile())).isEqualTo("a=200\nb=200\nc=200\nd=200\n");
    assertThat(done.completed()).isEqualTo(4);
  }

  private static boolean hasResults(BatchStore store, StoredBatch batch, int count) {
    try {
      return store.claims().done(batch.outputFile()).cardinality() >= count;
    } catch (InterruptedException e) {
      throw new IllegalStateException(e);
    }
  }

  @Test
  void cancelledBatchKeepsItsResultsAndEndsWhatRuns() throws Exception {
    var store = open();
    lines.answers =
        line ->
            line.equals("a")
                ? ScriptedLines.well(line)
                : new CompletableFuture<BatchLines.Outcome>();
    var batch = create(store, "a\nb\nc\nd\ne\nf\n");
    var runner = run(store);
    runner.wake();
    await("the first line", () -> hasResults(store, batch, 1) && lines.asked.contains("b"));

    assertThat(store.cancel(ME, batch.id()).orElseThrow().status())
        .isEqualTo(BatchStatus.CANCELLING);
    runner.wake();
    var done = ended(store, batch);

    assertThat(done.status()).isEqualTo(BatchStatus.CANCELLED);
    assertThat(text(store, done.outputFile())).isEqualTo("a=200\n");
    assertThat(done.errorFile()).isEmpty();
    assertThat(lines.running.get()).isZero();
    assertThat(store.cancel(ME, batch.id()).orElseThrow().status())
        .isEqualTo(BatchStatus.CANCELLED);
    assertThat(store.cancel("other", batch.id())).isEmpty();
  }

  @Test
  void linesThatAreNotServedInTimeAreTold() throws Exception {
    var store = open();
    lines.answers =
        line -> {
          if (line.equals("a")) {
            return ScriptedLines.well(line);
          }
          now.addAndGet(Duration.ofHours(2).toMillis());
          return new CompletableFuture<>();
        };
    var batch = create(store, "a\nb\nc\n");
    run(store).wake();

    var done = ended(store, batch);

    assertThat(done.status()).isEqualTo(BatchStatus.EXPIRED);
    assertThat(done.completed() + done.failed()).isEqualTo(3);
    assertThat(text(store, done.errorFile())).contains("b=batch_expired\n", "c=batch_expired\n");
  }

  @Test
  void inputThatIsNoBatchFailsWithItsLines() throws Exception {
    var store = open();
    var malformed = create(store, "a\nbad\nb\na\n");
    var empty = create(store, "\n \n");
    var tooLong = create(store, "x".repeat(1025));
    run(store).wake();

    assertThat(ended(store, malformed).status()).isEqualTo(BatchStatus.FAILED);
    assertThat(found(store, malformed).errors())
        .contains("invalid_json_line", "line=2", "duplicate_custom_id", "line=4");
    assertThat(ended(store, empty).errors()).contains("empty_file");
    assertThat(ended(store, tooLong).errors()).contains("line_too_long");
    assertThat(lines.asked).isEmpty();
    assertThat(found(store, malformed).outputFile()).isEmpty();
  }

  @Test
  void linesWaitWhileClientsWait() throws Exception {
    var store = open();
    lines.clientsWait = true;
    var batch = create(store, "a\n");
    run(store).wake();
    await("its start", () -> found(store, batch).status() == BatchStatus.IN_PROGRESS);
    assertThat(lines.asked).isEmpty();

    lines.clientsWait = false;

    assertThat(ended(store, batch).completed()).isOne();
  }

  @Test
  void listsHavePagesAndAreTheOwnersAlone() throws Exception {
    var store = open();
    var ids = new ArrayList<String>();
    for (int i = 0; i < 5; i++) {
      now.addAndGet(1000);
      ids.addFirst(upload(store, "a\n").id());
    }
    var first = store.files().list(ME, new Listing.Page("", 3, false), "");
    var second = store.files().list(ME, new Listing.Page(ids.get(2), 3, false), "batch");

    assertThat(first.entries()).extracting(StoredFile::id).isEqualTo(ids.subList(0, 3));
    assertThat(first.hasMore()).isTrue();
    assertThat(second.entries()).extracting(StoredFile::id).isEqualTo(ids.subList(3, 5));
    assertThat(second.hasMore()).isFalse();
    assertThat(store.files().list(ME, new Listing.Page("", 9, true), "").entries())
        .extracting(StoredFile::id)
        .isEqualTo(ids.reversed());
    assertThat(store.files().list("other", new Listing.Page("", 9, true), "").entries()).isEmpty();
    assertThatThrownBy(
            () -> store.files().list("other", new Listing.Page(ids.getFirst(), 9, true), ""))
        .isInstanceOf(ApiException.class)
        .hasMessageContaining("after");
    var batch = create(store, ids.getFirst(), Duration.ofHours(1));
    assertThat(store.list(ME, new Listing.Page("", 9, false)).entries())
        .extracting(StoredBatch::id)
        .containsExactly(batch.id());
  }

  @Test
  void filesAreBoundedByBytesNumberAndAge() throws Exception {
    var store = open();
    var piece = "x".repeat(FileStore.PIECE_BYTES).getBytes(StandardCharsets.US_ASCII);
    try (var upload = store.files().upload(ME)) {
      for (int i = 0; i < 4; i++) {
        upload.append(piece);
      }
      assertThatThrownBy(() -> upload.append(new byte[1]))
          .hasMessageContaining("dynamo.frontend.batches.max-file");
    }
    for (int i = 0; i < 4; i++) {
      try (var upload = store.files().upload(ME)) {
        for (int j = 0; j < 4; j++) {
          upload.append(piece);
        }
        upload.complete("a", store.keep(0));
      }
    }
    try (var upload = store.files().upload(ME)) {
      assertThatThrownBy(() -> upload.append(piece))
          .hasMessageContaining("dynamo.frontend.batches.max-bytes");
    }
    assertThat(store.files().list(ME, new Listing.Page("", 100, true), "").entries()).hasSize(4);

    now.addAndGet(Duration.ofHours(11).toMillis());
    store.deleteExpired();

    assertThat(store.files().isFull()).isFalse();
    assertThat(upload(store, "a\n").bytes()).isEqualTo(2);
  }

  @Test
  void inputOfARunningBatchStaysAndOtherFilesAreDeleted() throws Exception {
    var store = open();
    var file = upload(store, "a\n");
    var other = upload(store, "b\n");
    create(store, file.id(), Duration.ofHours(1));

    assertThatThrownBy(() -> store.files().delete(ME, file.id()))
        .hasMessageContaining("cancel that first");
    assertThat(store.files().delete("other", other.id())).isFalse();
    assertThat(store.files().delete(ME, other.id())).isTrue();
    assertThat(store.files().find(ME, other.id())).isEmpty();
    assertThat(text(store, other.id())).isEmpty();
    assertThatThrownBy(() -> create(store, other.id(), Duration.ofHours(1)))
        .hasMessageContaining("there is no file");
  }

  @Test
  void thereAreNotMoreBatchesThanAllowed() throws Exception {
    var store = open();
    var file = upload(store, "a\n");
    for (int i = 0; i < 10; i++) {
      create(store, file.id(), Duration.ofHours(1));
    }
    assertThatThrownBy(() -> create(store, file.id(), Duration.ofHours(1)))
        .hasMessageContaining("dynamo.frontend.batches.max-batches");
  }

  @Test
  void endedBatchesLeaveRoomAndTheLastOfThemAreKept() throws Exception {
    var store = open();
    var runner = run(store);
    var file = upload(store, "a\n");
    var ids = new ArrayList<String>();
    for (int i = 0; i < 12; i++) {
      now.addAndGet(1000);
      var batch = create(store, file.id(), Duration.ofHours(1));
      runner.wake();
      ids.addFirst(ended(store, batch).id());
    }
    now.addAndGet(1000);
    ids.addFirst(create(store, file.id(), Duration.ofHours(1)).id());

    assertThat(store.list(ME, new Listing.Page("", 100, false)).entries())
        .extracting(StoredBatch::id)
        .isEqualTo(ids.subList(0, 11)); // one that has not ended, and ten that have
  }

  @Test
  void ownerThatLostItsBatchWritesNothing() throws Exception {
    var store = open();
    var batch = create(store, "a\nb\n");
    var claims = store.claims();
    var lost = claims.claim(batch.id()).orElseThrow();
    assertThat(claims.addResult(lost, batch.outputFile(), 1, new byte[] {1})).isTrue();
    now.addAndGet(BatchClaims.LEASE.toMillis() + 1);
    var held = claims.claim(batch.id()).orElseThrow();

    assertThat(claims.addResult(lost, batch.outputFile(), 2, new byte[] {2})).isFalse();
    assertThat(claims.begin(lost, 7)).isFalse();
    assertThat(claims.end(lost, BatchStatus.COMPLETED, 9, 9, "")).isFalse();
    assertThat(claims.renew(List.of(new BatchClaims.Progress(lost, 9, 9)))).isEmpty();
    claims.release(lost);
    assertThat(claims.done(batch.outputFile()).cardinality()).isOne();
    assertThat(found(store, batch).completed()).isZero();

    assertThat(claims.renew(List.of(new BatchClaims.Progress(held, 1, 0))))
        .containsExactly(Map.entry(batch.id(), BatchStatus.VALIDATING));
    assertThat(claims.addResult(held, batch.outputFile(), 2, new byte[] {2})).isTrue();
    assertThat(claims.end(held, BatchStatus.COMPLETED, 2, 0, "")).isTrue();
    assertThat(found(store, batch).status()).isEqualTo(BatchStatus.COMPLETED);
  }

  @Test
  void lineThatCannotBeReadAnyMoreIsAnErrorAndTheBatchEnds() throws Exception {
    var store = open();
    lines.readableOnce = "b";
    var batch = create(store, "a\nb\nc\n");
    run(store).wake();

    var done = ended(store, batch);

    assertThat(done.status()).isEqualTo(BatchStatus.COMPLETED);
    assertThat(text(store, done.outputFile())).isEqualTo("a=200\nc=200\n");
    assertThat(text(store, done.errorFile())).isEqualTo("null=invalid_json_line\n");
  }

  @Test
  void answerThatCannotBeWrittenIsAnErrorOfItsLineAndIsNotAskedForAgain() throws Exception {
    var store = open();
    lines.unwritable = "b";
    var batch = create(store, "a\nb\n");
    run(store).wake();

    var done = ended(store, batch);

    assertThat(text(store, done.outputFile())).isEqualTo("a=200\n");
    assertThat(text(store, done.errorFile())).isEqualTo("b=result_not_kept\n");
    assertThat(count("b")).isOne();
  }

  @Test
  void refusalUnderAConfiguredStatusIsSentAgain() throws Exception {
    var store = open();
    lines.answers =
        line ->
            CompletableFuture.completedFuture(
                ScriptedLines.outcome(count(line) < 2 ? 418 : 200, line, count(line) < 2, null));
    var batch = create(store, "a\n");
    run(store).wake();

    assertThat(ended(store, batch).completed()).isOne();
    assertThat(count("a")).isEqualTo(2);
  }

  @Test
  void linesThatWaitToBeSentAgainAreNotInMemory() throws Exception {
    var store = open();
    lines.answers =
        line -> CompletableFuture.completedFuture(ScriptedLines.outcome(503, line, false, 30));
    create(store, "a\nb\nc\n");
    run(store).wake();

    await(
        "all lines wait, and the input's reader alone has memory",
        () -> lines.asked.size() == 3 && lines.openMemories.get() == 1);
  }

  @Test
  void noMoreLinesAreInMemoryThanUnderWay() throws Exception {
    var store = open();
    var answers = new CompletableFuture<BatchLines.Outcome>();
    lines.answers = _ -> answers.copy();
    var one = create(store, "a\nb\nc\nd\ne\n");
    var other = create(store, "f\ng\nh\ni\nj\n");
    run(store).wake();
    await("three requests", () -> lines.running.get() == 3);
    answers.complete(ScriptedLines.outcome(200, "", false, null));
    ended(store, one);
    ended(store, other);

    assertThat(lines.mostMemories.get())
        .as("a line for each of 3 requests, the readers of 2 batches, and 2 that check their input")
        .isLessThanOrEqualTo(7);
    await("all memory is free", () -> lines.openMemories.get() == 0);
  }

  @Test
  void uploadThatTookTooLongIsNotShown() throws Exception {
    var store = open();
    try (var upload = store.files().upload(ME)) {
      upload.append(new byte[] {1});
      now.addAndGet(Duration.ofHours(2).toMillis());
      store.deleteExpired();

      assertThatThrownBy(() -> upload.append(new byte[] {2}))
          .hasMessageContaining("within an hour");
      assertThatThrownBy(() -> upload.complete("a", store.keep(0)))
          .hasMessageContaining("within an hour");
    }
    assertThat(store.files().list(ME, new Listing.Page("", 9, true), "").entries()).isEmpty();
  }

  @Test
  void idsOfAnotherFormNeverReachTheDatabase() throws Exception {
    var store = open();
    upload(store, "a\n");

    assertThatThrownBy(() -> create(store, "file-\u0000", Duration.ofHours(1)))
        .hasMessageContaining("there is no file");
    assertThatThrownBy(() -> store.files().list(ME, new Listing.Page("file-\u0000", 9, true), ""))
        .hasMessageContaining("after");
  }
}
