package io.dynamo.frontend.batches;

import io.dynamo.error.FailureShape;
import io.dynamo.frontend.ApiException;
import io.dynamo.frontend.batches.BatchLines.Line;
import io.dynamo.frontend.batches.BatchLines.Outcome;
import io.dynamo.metrics.Label;
import io.dynamo.metrics.Metrics;
import java.lang.System.Logger.Level;
import java.util.concurrent.atomic.AtomicLong;
import org.jspecify.annotations.Nullable;

/**
 * Records the results of the lines of one batch, as long as this frontend has it. Safe for
 * concurrent use; callers wait for the database.
 */
final class BatchResults {
  private static final System.Logger LOG = System.getLogger(BatchResults.class.getName());
  private static final String EXPIRED =
      "This request could not be executed before the completion window expired.";

  private final BatchClaims claims;
  private final BatchClaims.Claim claim;
  private final BatchLines lines;
  private final Metrics metrics;
  private final RunStop stop;
  private final AtomicLong completed;
  private final AtomicLong failed;
  private volatile boolean expired;

  BatchResults(
      BatchClaims claims,
      BatchClaims.Claim claim,
      BatchLines lines,
      Metrics metrics,
      RunStop stop) {
    this.claims = claims;
    this.claim = claim;
    this.lines = lines;
    this.metrics = metrics;
    this.stop = stop;
    this.completed = new AtomicLong(claim.batch().completed());
    this.failed = new AtomicLong(claim.batch().failed());
  }

  /** Sets how many results are there already. */
  void resume(long completedLines, long failedLines) {
    completed.set(completedLines);
    failed.set(failedLines);
  }

  long completed() {
    return completed.get();
  }

  long failed() {
    return failed.get();
  }

  /** Whether a line was recorded as not served in time. */
  boolean hasExpired() {
    return expired;
  }

  /** Records an answer. */
  void record(int number, Line line, Outcome outcome)
      throws InterruptedException, RunStop.AbandonedException {
    boolean isWell = outcome.status() == 200;
    try {
      write(
          isWell ? claim.batch().outputFile() : claim.batch().errorFile(),
          number,
          lines.result(line, outcome),
          isWell ? completed : failed,
          isWell ? "completed" : "failed");
    } catch (RuntimeException e) { // else the line would be sent again and again
      LOG.log(Level.ERROR, "the answer to a line cannot be kept", FailureShape.of(e));
      recordError(
          number, line.customId(), "result_not_kept", "The answer could not be kept.", "failed");
    }
  }

  /** Records that a line was not served in time. */
  void recordExpired(int number, Line line)
      throws InterruptedException, RunStop.AbandonedException {
    expired = true;
    recordError(number, line.customId(), "batch_expired", EXPIRED, "expired");
  }

  /**
   * Records that a line has no answer.
   *
   * @param customId null when it could not be read
   */
  void recordFailure(int number, @Nullable String customId, String code, String message)
      throws InterruptedException, RunStop.AbandonedException {
    recordError(number, customId, code, message, "failed");
  }

  private void recordError(
      int number, @Nullable String customId, String code, String message, String outcome)
      throws InterruptedException, RunStop.AbandonedException {
    write(claim.batch().errorFile(), number, lines.error(customId, code, message), failed, outcome);
  }

  /**
   * Writes a line of a result when the database answers.
   *
   * @throws ApiException when the database refuses it for good
   */
  private void write(String file, int number, byte[] text, AtomicLong counter, String outcome)
      throws InterruptedException, RunStop.AbandonedException {
    if (!stop.persistently(() -> claims.addResult(claim, file, number, text))) {
      stop.lose();
      throw new RunStop.AbandonedException();
    }
    counter.incrementAndGet();
    metrics.counter(BatchMetrics.LINES, new Label("outcome", outcome)).increment();
  }
}
