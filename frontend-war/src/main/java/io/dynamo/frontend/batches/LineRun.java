package io.dynamo.frontend.batches;

import io.dynamo.error.FailureShape;
import io.dynamo.frontend.ApiException;
import io.dynamo.frontend.batches.BatchLines.Line;
import io.dynamo.frontend.batches.BatchLines.Outcome;
import java.lang.System.Logger.Level;
import java.time.Duration;
import java.time.InstantSource;
import java.util.Optional;
import java.util.concurrent.ExecutionException;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.TimeoutException;
import org.jspecify.annotations.Nullable;

/**
 * Sends one line of a batch until it has a result. It is in memory while it has a turn: between two
 * sendings it is forgotten, and read again. For one thread.
 */
final class LineRun {
  private static final System.Logger LOG = System.getLogger(LineRun.class.getName());
  private static final Duration LOOK = Duration.ofMillis(200);
  private static final Duration LAST_ANSWER = Duration.ofSeconds(10);
  private static final Duration MEMORY_PAUSE = Duration.ofSeconds(1);
  private static final long LEAST_MILLIS = 200; // of a pause for memory
  private static final int COPIES = 3; // of a line: its text, its body, and that of the request

  /**
   * The parts that all lines of a batch share.
   *
   * @param whenSentAgain called for each time that a line is sent once more
   */
  record Context(
      StoredBatch batch,
      BatchLines lines,
      LineTurns turns,
      BatchResults results,
      MissingModels models,
      RunStop stop,
      InstantSource clock,
      Runnable whenSentAgain) {
    boolean isExpired() {
      return clock.millis() >= batch.expiresMillis();
    }
  }

  /** Reads the text of the line again. */
  interface Source {
    byte[] text() throws InterruptedException, MalformedLineException, RunStop.AbandonedException;
  }

  private final Context run;
  private final int number;
  private final Source source;
  private final LineRetries retries;
  private @Nullable String customId; // once it is read

  LineRun(Context run, int number, Source source) {
    this.run = run;
    this.number = number;
    this.source = source;
    this.retries = new LineRetries(run.models(), run.clock());
  }

  /**
   * Serves the line.
   *
   * @param first its text; the caller has a turn for it, which ends here
   */
  void serve(byte[] first) throws InterruptedException, RunStop.AbandonedException {
    var pause = attempt(first);
    while (pause.isPresent() && !stopsWithin(pause.get()) && waitForTurn()) {
      pause = attempt(null);
    }
  }

  /**
   * Waits before the line is sent again: not beyond the end of the batch's time, but for memory a
   * while even then.
   */
  private boolean stopsWithin(Duration pause) throws InterruptedException {
    long left = Math.max(0, run.batch().expiresMillis() - run.clock().millis());
    long least = pause.equals(MEMORY_PAUSE) ? LEAST_MILLIS : 0;
    return run.stop().await(Duration.ofMillis(Math.min(Math.max(left, least), pause.toMillis())));
  }

  private boolean waitForTurn() throws InterruptedException {
    while (!run.stop().isSet()) {
      if (run.turns().tryBegin(run.stop(), !run.isExpired())) {
        return true;
      }
    }
    return false;
  }

  /**
   * Uses a turn, and ends it.
   *
   * @param known the line's text; null is read again
   * @return how long to wait before the next; empty for no next
   */
  private Optional<Duration> attempt(byte @Nullable [] known)
      throws InterruptedException, RunStop.AbandonedException {
    try (var memory = run.lines().memory()) {
      return attempt(known == null ? source.text() : known, memory);
    } catch (MalformedLineException e) { // although it was well when the batch began
      run.results().recordFailure(number, customId, e.code(), e.text());
    } catch (ApiException e) {
      if (e.error().status() == 503) { // there is no memory now
        return Optional.of(MEMORY_PAUSE);
      }
      run.results().recordFailure(number, customId, "line_not_served", e.error().message());
    } catch (RuntimeException | Error e) { // else the line would be sent again and again
      LOG.log(Level.ERROR, "a line of a batch failed unexpectedly", FailureShape.of(e));
      run.results()
          .recordFailure(number, customId, "internal_error", "The request failed unexpectedly.");
    } finally {
      run.turns().end();
    }
    return Optional.empty();
  }

  private Optional<Duration> attempt(byte[] text, BatchLines.Memory memory)
      throws InterruptedException, MalformedLineException, RunStop.AbandonedException {
    memory.hold(COPIES * (long) text.length);
    var line = run.lines().read(text, run.batch().endpoint());
    customId = line.customId();
    var outcome = run.isExpired() ? null : send(line, memory);
    if (run.stop().isSet()) {
      return Optional.empty(); // it may have ended for that
    }
    if (outcome == null) {
      run.results().recordExpired(number, line);
      return Optional.empty();
    }
    var again = retries.after(outcome);
    if (again.isPresent()) {
      run.whenSentAgain().run();
    } else {
      run.results().record(number, line, outcome);
    }
    return again;
  }

  /** Sends the line once; null when the time of the batch is over. */
  private @Nullable Outcome send(Line line, BatchLines.Memory memory) throws InterruptedException {
    BatchLines.Call call;
    try {
      call = run.lines().start(line, run.batch().endpoint(), run.batch().tenant(), memory);
    } catch (ApiException e) {
      var error = e.error();
      return new Outcome(
          error.status(), "", error.body(), error.isOverload(), error.retryAfterSeconds());
    }
    while (!run.isExpired() && !run.stop().isSet()) {
      var outcome = outcome(call, LOOK);
      if (outcome != null) {
        return outcome;
      }
    }
    call.cancel();
    outcome(call, LAST_ANSWER); // so that its place counts as taken until it is free
    return null;
  }

  private static @Nullable Outcome outcome(BatchLines.Call call, Duration wait)
      throws InterruptedException {
    try {
      return call.outcome().get(wait.toMillis(), TimeUnit.MILLISECONDS);
    } catch (TimeoutException e) {
      return null;
    } catch (ExecutionException e) {
      throw new IllegalStateException(e.getCause());
    }
  }
}
