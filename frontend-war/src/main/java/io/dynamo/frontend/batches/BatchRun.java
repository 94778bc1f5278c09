package io.dynamo.frontend.batches;

import io.dynamo.error.FailureShape;
import io.dynamo.frontend.ApiException;
import io.dynamo.frontend.batches.BatchLines.InputError;
import io.dynamo.frontend.batches.BatchLines.Line;
import io.dynamo.frontend.batches.BatchLines.Outcome;
import io.dynamo.metrics.Label;
import io.dynamo.metrics.Metrics;
import java.lang.System.Logger.Level;
import java.nio.ByteBuffer;
import java.nio.charset.StandardCharsets;
import java.time.Duration;
import java.util.ArrayList;
import java.util.BitSet;
import java.util.HashSet;
import java.util.List;
import java.util.Set;
import java.util.concurrent.ConcurrentHashMap;
import java.util.concurrent.CountDownLatch;
import java.util.concurrent.ExecutionException;
import java.util.concurrent.Semaphore;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.TimeoutException;
import java.util.concurrent.atomic.AtomicLong;
import java.util.concurrent.atomic.AtomicReference;
import java.util.function.Consumer;
import org.jspecify.annotations.Nullable;

/**
 * Runs one batch: checks its input, serves the lines that have no result yet, and ends it. Each
 * line has a virtual thread of its own, from its first request to its result.
 */
final class BatchRun {
  private static final System.Logger LOG = System.getLogger(BatchRun.class.getName());
  private static final int MAX_ERRORS = 20;
  private static final int FAILURES = 3; // of a request that may succeed when sent again
  private static final long LOOK_MILLIS = 200;

  /** How long a line waits for a model that is not there: workers may be starting. */
  static final Duration MODEL_PATIENCE = Duration.ofSeconds(30);

  private static final int MAX_MISSING = 1000;
  private static final Duration DATABASE_PAUSE = Duration.ofSeconds(1);
  private static final Duration FIRST_PAUSE = Duration.ofMillis(500);
  private static final Duration LONGEST_PAUSE = Duration.ofSeconds(30);
  private static final Duration LAST_ANSWER = Duration.ofSeconds(10);

  /** Why a run stops before its last line. */
  enum Stop {
    NONE,
    /** The client wants it. */
    CANCELLED,
    /** The server stops: another one may go on. */
    LEFT,
    /** Another server has the batch, or it has ended. */
    LOST
  }

  private final BatchStore store;
  private final BatchLines lines;
  private final Metrics metrics;
  private final Semaphore requests; // of all batches
  private final Semaphore mine; // lines of this batch under way
  private final int most; // of those
  private final StoredBatch batch;
  private final Consumer<BatchRun> over;
  private final AtomicReference<Stop> stop = new AtomicReference<>(Stop.NONE);
  private final CountDownLatch stopped = new CountDownLatch(1);
  private final Set<String> missing = ConcurrentHashMap.newKeySet(); // answers about models
  private final AtomicLong completed = new AtomicLong();
  private final AtomicLong failed = new AtomicLong();
  private final Thread thread;
  private volatile boolean begun; // so that counts mean something
  private volatile boolean expired;
  private volatile boolean faulty;

  BatchRun(
      BatchStore store,
      BatchLines lines,
      Metrics metrics,
      Semaphore requests,
      StoredBatch batch,
      Consumer<BatchRun> over) {
    this.store = store;
    this.lines = lines;
    this.metrics = metrics;
    this.requests = requests;
    this.most = store.settings().concurrency();
    this.mine = new Semaphore(most);
    this.batch = batch;
    this.over = over;
    this.thread = Thread.ofVirtual().name("dynamo-batch").unstarted(this::run);
  }

  String id() {
    return batch.id();
  }

  void start() {
    thread.start();
  }

  /** Has the run end soon; the first reason counts. */
  void stop(Stop why) {
    if (stop.compareAndSet(Stop.NONE, why)) {
      stopped.countDown();
      if (why == Stop.LEFT) {
        thread.interrupt(); // it may wait for a database that is down
      }
    }
  }

  boolean await(Duration timeout) throws InterruptedException {
    return thread.join(timeout);
  }

  /** Whether the run ended by a fault of this code, so that it should not be repeated at once. */
  boolean isFaulty() {
    return faulty;
  }

  /** Writes how far the batch is. */
  void report() throws InterruptedException {
    if (begun) {
      store.progress(batch.id(), completed.get(), failed.get());
    }
  }

  private boolean isStopped() {
    return stop.get() != Stop.NONE;
  }

  private boolean isExpired() {
    return store.now() >= batch.expiresMillis();
  }

  private void run() {
    try {
      if (batch.status() == BatchStatus.CANCELLING) {
        stop(Stop.CANCELLED);
      }
      serve();
    } catch (InterruptedException e) {
      LOG.log(Level.DEBUG, "a batch is left for the next start");
    } catch (RuntimeException | Error e) { // it is claimed again after a while
      faulty = true;
      LOG.log(Level.ERROR, "batch " + batch.id() + " failed unexpectedly", FailureShape.of(e));
    } finally {
      if (stop.get() == Stop.LEFT) {
        release();
      }
      over.accept(this);
    }
  }

  private void release() {
    try {
      store.release(batch.id());
    } catch (InterruptedException e) {
      Thread.currentThread().interrupt();
    } catch (ApiException e) {
      LOG.log(Level.DEBUG, "a batch stays claimed for a while", FailureShape.of(e));
    }
  }

  private void serve() throws InterruptedException {
    long total = batch.total();
    if (batch.startedMillis() == 0 && !isStopped()) {
      var errors = new ArrayList<InputError>();
      total = check(errors);
      if (isStopped() && stop.get() != Stop.CANCELLED) {
        return;
      }
      if (!errors.isEmpty() && !isStopped()) {
        persistently(
            () -> {
              store.end(batch, BatchStatus.FAILED, 0, 0, lines.errors(errors));
              return true;
            });
        return;
      }
      long counted = total;
      persistently(
          () -> {
            store.begin(batch.id(), counted);
            return true;
          });
    }
    var answered = persistently(() -> store.done(batch.outputFile()));
    var refused = persistently(() -> store.done(batch.errorFile()));
    completed.set(answered.cardinality());
    failed.set(refused.cardinality());
    begun = true;
    answered.or(refused);
    serveLines(answered);
    var why = stop.get();
    if (why == Stop.LEFT || why == Stop.LOST) {
      return;
    }
    var status =
        why == Stop.CANCELLED
            ? BatchStatus.CANCELLED
            : expired ? BatchStatus.EXPIRED : BatchStatus.COMPLETED;
    persistently(
        () -> {
          store.end(batch, status, completed.get(), failed.get(), "");
          return true;
        });
    LOG.log(
        Level.INFO,
        "batch {0} is {1}: {2} of {3} lines answered, {4} failed",
        batch.id(),
        status.label(),
        completed.get(),
        total,
        failed.get());
  }

  /** Two halves of the hash of a name. */
  private record Name(long high, long low) {
    static Name of(String text) {
      var hash = ByteBuffer.wrap(Owners.hash(text.getBytes(StandardCharsets.UTF_8)));
      return new Name(hash.getLong(0), hash.getLong(Long.BYTES));
    }
  }

  /** Checks all lines; returns their number. */
  private long check(List<InputError> errors) throws InterruptedException {
    var reader = reader();
    Set<Name> names = new HashSet<>();
    long count = 0;
    try {
      for (var line = reader.next(); line != null && !isStopped(); line = reader.next()) {
        if (++count > store.settings().maxLines()) {
          errors.add(
              new InputError(
                  "too_many_lines",
                  "the input has more than the %d lines of dynamo.frontend.batches.max-lines"
                      .formatted(store.settings().maxLines()),
                  reader.number()));
          return count;
        }
        try {
          var name = read(line).customId();
          if (!names.add(Name.of(name))) {
            errors.add(
                new InputError(
                    "duplicate_custom_id", "`custom_id` was given before", reader.number()));
          }
        } catch (MalformedLineException e) {
          errors.add(new InputError(e.code(), e.text(), reader.number()));
        }
        if (errors.size() >= MAX_ERRORS) {
          return count;
        }
      }
    } catch (MalformedLineException e) { // of the reader, which cannot go on
      errors.add(new InputError(e.code(), e.text(), reader.number()));
    }
    if (count == 0 && errors.isEmpty() && !isStopped()) {
      errors.add(new InputError("empty_file", "the input has no lines", 0));
    }
    return count;
  }

  private LineReader reader() {
    return new LineReader(store.files(), batch.inputFile(), store.settings().maxLineBytes());
  }

  /** Reads a line, when there is memory for it. */
  private Line read(byte[] line) throws InterruptedException, MalformedLineException {
    while (true) {
      try {
        return lines.read(line, batch.endpoint());
      } catch (ApiException e) {
        if (e.error().status() < 500
            || stopped.await(DATABASE_PAUSE.toMillis(), TimeUnit.MILLISECONDS)) {
          throw new MalformedLineException("invalid_json_line", e.error().message());
        }
      }
    }
  }

  private void serveLines(BitSet done) throws InterruptedException {
    var reader = reader();
    try {
      for (var line = reader.next(); line != null && !isStopped(); line = reader.next()) {
        int number = Math.toIntExact(reader.number());
        if (!done.get(number)) {
          serve(number, line);
        }
      }
    } catch (MalformedLineException e) {
      throw new IllegalStateException("a line was well before", e);
    } finally {
      awaitLines();
    }
  }

  private void serve(int number, byte[] text) throws InterruptedException, MalformedLineException {
    while (!mine.tryAcquire(LOOK_MILLIS, TimeUnit.MILLISECONDS)) {
      if (isStopped()) {
        return;
      }
    }
    boolean started = false;
    try {
      var line = read(text);
      if (!isStopped()) {
        Thread.ofVirtual().name("dynamo-batch-line").start(() -> serve(number, line));
        started = true;
      }
    } finally {
      if (!started) {
        mine.release();
      }
    }
  }

  /** Waits for the lines under way, which look whether the run has stopped. */
  private void awaitLines() throws InterruptedException {
    boolean interrupted = false;
    while (true) {
      try {
        mine.acquire(most);
        break;
      } catch (InterruptedException e) { // lines end soon: the run has stopped
        interrupted = true;
      }
    }
    mine.release(most);
    if (interrupted) {
      throw new InterruptedException("the run is to be left");
    }
  }

  private void serve(int number, Line line) {
    try {
      answer(number, line);
    } catch (InterruptedException e) {
      Thread.currentThread().interrupt();
    } catch (RuntimeException | Error e) {
      faulty = true;
      LOG.log(Level.ERROR, "a line of a batch failed unexpectedly", FailureShape.of(e));
      stop(Stop.LOST); // claimed again later
    } finally {
      mine.release();
    }
  }

  /** Sends a line until it has a result, and writes that. */
  private void answer(int number, Line line) throws InterruptedException {
    int failures = 0;
    long missingSince = 0;
    for (int attempt = 0; !isStopped(); attempt++) {
      if (isExpired()) {
        expired = true;
        write(batch.errorFile(), number, lines.expired(line), failed, "expired");
        return;
      }
      if (!mayBegin()) {
        continue;
      }
      Outcome outcome;
      try {
        outcome = send(line);
      } finally {
        requests.release();
      }
      if (isStopped()) {
        return; // it may have ended for that
      }
      if (outcome == null) {
        continue; // expired
      }
      int status = outcome.status();
      boolean isRefused = status == 429 || status == 503 || status == 529;
      boolean mayHelp = status == 408 || status == 499 || (status >= 500 && status != 501);
      if (status == 404 && missingSince == 0) {
        missingSince = store.now();
      }
      if (isRefused
          || (mayHelp && ++failures < FAILURES)
          || (status == 404 && mayAppear(outcome, missingSince))) {
        metrics.counter(BatchMetrics.RETRIES).increment();
        pause(attempt, outcome);
        continue;
      }
      boolean well = status == 200;
      write(
          well ? batch.outputFile() : batch.errorFile(),
          number,
          lines.result(line, outcome),
          well ? completed : failed,
          well ? "completed" : "failed");
      return;
    }
  }

  /** Whether to wait for a model; once a line did in vain, no other one waits for that model. */
  private boolean mayAppear(Outcome outcome, long sinceMillis) {
    var answer = new String(outcome.body(), StandardCharsets.UTF_8); // names the model
    if (store.now() - sinceMillis < MODEL_PATIENCE.toMillis()) {
      return !missing.contains(answer);
    }
    if (missing.size() < MAX_MISSING) {
      missing.add(answer);
    }
    return false;
  }

  /** Waits a moment for the right to send a request; clients go first. */
  private boolean mayBegin() throws InterruptedException {
    if (lines.areClientsWaiting() || hasNoRoom()) {
      stopped.await(LOOK_MILLIS, TimeUnit.MILLISECONDS);
      return false;
    }
    return requests.tryAcquire(LOOK_MILLIS, TimeUnit.MILLISECONDS);
  }

  /** Whether a result could not be written now. */
  private boolean hasNoRoom() throws InterruptedException {
    try {
      return store.files().isFull();
    } catch (ApiException e) {
      return true;
    }
  }

  /** Sends a line once; null when the time of the batch is over. */
  private @Nullable Outcome send(Line line) throws InterruptedException {
    BatchLines.Call call;
    try {
      call = lines.start(line, batch.endpoint(), batch.tenant());
    } catch (ApiException e) {
      return new Outcome(e.error().status(), "", e.error().body(), e.error().retryAfterSeconds());
    }
    long until = batch.expiresMillis() - store.now();
    for (long waited = 0; waited < until && !isStopped(); waited += LOOK_MILLIS) {
      var outcome = outcome(call, Duration.ofMillis(LOOK_MILLIS));
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

  /** Waits before a request is sent again: as long as its refusal says, or longer each time. */
  private void pause(int attempt, Outcome outcome) throws InterruptedException {
    var asked = outcome.retryAfterSeconds();
    long own = FIRST_PAUSE.toMillis() << Math.min(attempt, 6);
    long wanted = asked == null ? own : Math.max(own, TimeUnit.SECONDS.toMillis(asked));
    long left = batch.expiresMillis() - store.now();
    long millis = Math.clamp(Math.min(wanted, left), 0, LONGEST_PAUSE.toMillis());
    stopped.await(millis, TimeUnit.MILLISECONDS);
  }

  private void write(String file, int number, byte[] text, AtomicLong counter, String outcome)
      throws InterruptedException {
    while (true) {
      try {
        store.addResult(file, number, text);
        break;
      } catch (ApiException e) {
        stopped.await(DATABASE_PAUSE.toMillis(), TimeUnit.MILLISECONDS);
        if (isStopped()) {
          return; // the line is sent again by the next run
        }
      }
    }
    counter.incrementAndGet();
    metrics.counter(BatchMetrics.LINES, new Label("outcome", outcome)).increment();
  }

  /** A call of the store. */
  interface StoreCall<T> {
    T run() throws InterruptedException;
  }

  /** Makes a call until the database answers. */
  static <T> T persistently(StoreCall<T> call) throws InterruptedException {
    while (true) {
      try {
        return call.run();
      } catch (ApiException e) {
        if (e.error().status() != 503) {
          throw e;
        }
        Thread.sleep(DATABASE_PAUSE);
      }
    }
  }
}
