package io.dynamo.frontend.batches;

import io.dynamo.error.FailureShape;
import io.dynamo.frontend.ApiException;
import io.dynamo.metrics.Metrics;
import java.lang.System.Logger.Level;
import java.time.Duration;
import java.util.BitSet;
import java.util.List;
import java.util.concurrent.Semaphore;
import java.util.concurrent.TimeUnit;
import java.util.function.Consumer;
import org.jspecify.annotations.Nullable;

/**
 * Runs one batch on a virtual thread: checks its input, reads the lines that have no result yet and
 * starts each on a thread of its own, and ends the batch.
 */
final class BatchRun {
  private static final System.Logger LOG = System.getLogger(BatchRun.class.getName());
  private static final Duration LOOK = Duration.ofMillis(200);

  /**
   * The parts that all batches share.
   *
   * @param most lines of one batch that have begun and have no result
   */
  record Shared(BatchStore store, BatchLines lines, Metrics metrics, LineTurns turns, int most) {}

  private final Shared shared;
  private final BatchClaims claims;
  private final BatchClaims.Claim claim;
  private final StoredBatch batch;
  private final Consumer<BatchRun> over;
  private final RunStop stop = new RunStop();
  private final Semaphore slots; // for lines that have begun and have no result
  private final BatchResults results;
  private final LineRun.Context context;
  private final Thread thread;
  private volatile long renewedNanos; // when the claim was certainly ours
  private volatile boolean faulty;

  /**
   * @param claimedNanos when the batch was not yet claimed
   */
  BatchRun(Shared shared, BatchClaims.Claim claim, long claimedNanos, Consumer<BatchRun> over) {
    this.shared = shared;
    this.claims = shared.store().claims();
    this.claim = claim;
    this.batch = claim.batch();
    this.over = over;
    this.slots = new Semaphore(shared.most());
    this.results = new BatchResults(claims, claim, shared.lines(), shared.metrics(), stop);
    this.context =
        new LineRun.Context(
            batch,
            shared.lines(),
            shared.turns(),
            results,
            new MissingModels(shared.store().clock()),
            stop,
            shared.store().clock(),
            () -> shared.metrics().counter(BatchMetrics.RETRIES).increment());
    this.renewedNanos = claimedNanos;
    this.thread = Thread.ofVirtual().name("dynamo-batch").unstarted(this::run);
  }

  String id() {
    return batch.id();
  }

  void start() {
    thread.start();
  }

  RunStop stop() {
    return stop;
  }

  /** How far the run is, for the renewal of its claim. */
  BatchClaims.Progress progress() {
    return new BatchClaims.Progress(claim, results.completed(), results.failed());
  }

  /** Notes that the claim was renewed by a call that began at {@code nanos}. */
  void setRenewed(long nanos) {
    renewedNanos = nanos;
  }

  /** Whether another frontend may have the batch, as nobody renewed the claim in time. */
  boolean mayBeLost() {
    return System.nanoTime() - renewedNanos > BatchClaims.LEASE.toNanos();
  }

  /** Has the run end for the next start of the server, also while it waits for the database. */
  void leave() {
    stop.leave();
    thread.interrupt();
  }

  boolean await(Duration timeout) throws InterruptedException {
    return thread.join(timeout);
  }

  /** Whether the run ended by a fault of this code, so that it should not be repeated at once. */
  boolean isFaulty() {
    return faulty;
  }

  private void run() {
    try {
      if (batch.status() == BatchStatus.CANCELLING) {
        stop.cancel();
      }
      serve();
    } catch (InterruptedException | RunStop.AbandonedException e) {
      LOG.log(Level.DEBUG, "a batch is left for another run");
    } catch (RuntimeException e) {
      LOG.log(Level.ERROR, "batch " + batch.id() + " failed unexpectedly", FailureShape.of(e));
      endFaulty();
    } catch (Error e) { // of the virtual machine, perhaps: the batch is claimed again after a while
      faulty = true;
      LOG.log(Level.ERROR, "batch " + batch.id() + " failed unexpectedly", FailureShape.of(e));
    } finally {
      if (stop.isLeft()) {
        release();
      }
      over.accept(this);
    }
  }

  /** Ends a batch that would fail in the same way each time. */
  private void endFaulty() {
    faulty = true;
    var error = new BatchLines.InputError("internal_error", "the batch failed unexpectedly", 0);
    try {
      var _ = end(BatchStatus.FAILED, shared.lines().errors(List.of(error)));
    } catch (InterruptedException | RunStop.AbandonedException | RuntimeException e) {
      LOG.log(Level.DEBUG, "a batch that failed is claimed again later", FailureShape.of(e));
    }
  }

  private void release() {
    try {
      try {
        claims.release(claim);
      } catch (InterruptedException e) { // the stop's, which came late
        claims.release(claim);
      }
    } catch (InterruptedException e) {
      Thread.currentThread().interrupt();
    } catch (ApiException e) {
      LOG.log(Level.DEBUG, "a batch stays claimed for a while", FailureShape.of(e));
    }
  }

  private void serve() throws InterruptedException, RunStop.AbandonedException {
    if (batch.startedMillis() == 0 && !stop.isSet() && !begin()) {
      return;
    }
    var answered = stop.persistently(() -> claims.done(batch.outputFile()));
    var refused = stop.persistently(() -> claims.done(batch.errorFile()));
    results.resume(answered.cardinality(), refused.cardinality());
    answered.or(refused);
    serveLines(answered);
    end();
  }

  /** Checks the input; returns whether it is well, or the batch is to be cancelled. */
  private boolean begin() throws InterruptedException, RunStop.AbandonedException {
    try (var memory = shared.lines().memory()) {
      var settings = shared.store().settings();
      var check =
          new InputCheck(
              shared.lines(),
              batch.endpoint(),
              reader(memory, LineReader.Place.BEGINNING),
              settings.maxLines(),
              stop);
      check.run();
      if (!check.errors().isEmpty() && !stop.isSet()) {
        var _ = end(BatchStatus.FAILED, shared.lines().errors(check.errors()));
        return false;
      }
      if (!stop.persistently(() -> claims.begin(claim, check.count()))) {
        throw new RunStop.AbandonedException();
      }
      return true;
    }
  }

  private LineReader reader(BatchLines.Memory memory, LineReader.Place from) {
    var settings = shared.store().settings();
    return new LineReader(
        shared.store().files(), batch, settings.maxLineBytes(), memory, stop, from);
  }

  private void serveLines(BitSet done) throws InterruptedException, RunStop.AbandonedException {
    try {
      startLines(done);
    } finally {
      awaitLines();
    }
  }

  private void startLines(BitSet done) throws InterruptedException, RunStop.AbandonedException {
    try (var memory = shared.lines().memory()) {
      var reader = reader(memory, LineReader.Place.BEGINNING);
      while (waitForTurn()) {
        boolean isPassedOn = false;
        try {
          var text = reader.next(done);
          if (text == null) {
            return;
          }
          isPassedOn = true;
          start(Math.toIntExact(reader.number()), reader.place(), text);
        } catch (MalformedLineException e) { // although it was well when the batch began
          results.recordFailure(Math.toIntExact(reader.number()), null, e.code(), e.text());
        } finally {
          if (!isPassedOn) {
            shared.turns().end();
            slots.release();
          }
        }
      }
    }
  }

  /** Waits for the right to begin another line; returns false when the run is to end. */
  private boolean waitForTurn() throws InterruptedException {
    while (!stop.isSet()) {
      if (slots.tryAcquire(LOOK.toNanos(), TimeUnit.NANOSECONDS)) {
        boolean isGiven = false;
        try {
          while (!isGiven && !stop.isSet()) {
            isGiven = shared.turns().tryBegin(stop, !context.isExpired());
          }
        } finally {
          if (!isGiven) {
            slots.release();
          }
        }
        return isGiven;
      }
    }
    return false;
  }

  /** Starts the thread of a line, which has its turn and its slot. */
  private void start(int number, LineReader.Place place, byte[] text) {
    var line = new LineRun(context, number, () -> textAt(place));
    Thread.ofVirtual().name("dynamo-batch-line").start(() -> serve(line, text));
  }

  private void serve(LineRun line, byte[] text) {
    try {
      line.serve(text);
    } catch (InterruptedException e) {
      Thread.currentThread().interrupt();
    } catch (RunStop.AbandonedException e) {
      LOG.log(Level.DEBUG, "a line is left for another run");
    } catch (RuntimeException | Error e) { // its result could not be recorded
      faulty = true;
      LOG.log(Level.ERROR, "a line of a batch failed unexpectedly", FailureShape.of(e));
      stop.lose(); // claimed again later
    } finally {
      slots.release();
    }
  }

  /** Reads a line again. */
  private byte[] textAt(LineReader.Place place)
      throws InterruptedException, MalformedLineException, RunStop.AbandonedException {
    try (var memory = shared.lines().memory()) {
      byte @Nullable [] text = reader(memory, place).next();
      if (text == null) {
        throw new MalformedLineException("invalid_json_line", "is not in the file any more");
      }
      return text;
    }
  }

  /** Waits for the lines under way; each ends soon once the run has stopped. */
  private void awaitLines() throws InterruptedException {
    boolean interrupted = false;
    while (true) {
      try {
        slots.acquire(shared.most());
        break;
      } catch (InterruptedException e) { // lines end soon: the run has stopped
        interrupted = true;
      }
    }
    slots.release(shared.most());
    if (interrupted) {
      throw new InterruptedException("the run is to be left");
    }
  }

  /** Ends the batch when all lines have a result, its time is over, or it is cancelled. */
  private void end() throws InterruptedException, RunStop.AbandonedException {
    var status =
        stop.isSet()
            ? BatchStatus.CANCELLED
            : results.hasExpired() ? BatchStatus.EXPIRED : BatchStatus.COMPLETED;
    if (end(status, "")) {
      LOG.log(
          Level.INFO,
          "batch {0} is {1}: {2} lines answered, {3} failed",
          batch.id(),
          status.label(),
          results.completed(),
          results.failed());
    }
  }

  /** Ends the batch; returns false when it is not this server's any more. */
  private boolean end(BatchStatus status, String errors)
      throws InterruptedException, RunStop.AbandonedException {
    return stop.persistently(
        () -> claims.end(claim, status, results.completed(), results.failed(), errors));
  }
}
