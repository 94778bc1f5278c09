package io.dynamo.frontend.responses;

import io.dynamo.concurrent.Deadline;
import io.dynamo.config.frontend.ResponsesSettings;
import io.dynamo.config.frontend.ResponsesSettings.Storing;
import io.dynamo.frontend.ApiError;
import io.dynamo.frontend.ApiException;
import io.dynamo.metrics.Metrics;
import java.lang.System.Logger.Level;
import java.sql.Connection;
import java.sql.SQLException;
import java.time.Duration;
import java.time.InstantSource;
import java.util.ArrayDeque;
import java.util.ArrayList;
import java.util.List;
import java.util.Optional;
import java.util.concurrent.ArrayBlockingQueue;
import java.util.concurrent.Callable;
import java.util.concurrent.ConcurrentLinkedDeque;
import java.util.concurrent.ExecutionException;
import java.util.concurrent.FutureTask;
import java.util.concurrent.RejectedExecutionException;
import java.util.concurrent.ThreadPoolExecutor;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.TimeoutException;
import java.util.concurrent.atomic.AtomicBoolean;
import org.jspecify.annotations.Nullable;

/**
 * Keeps responses in a database and finds them again. Storing only puts a response into a bounded
 * queue, which a thread of its own writes; callers of the other methods wait for the database, at
 * most {@link #WAIT}, while a few threads ask it. What waits to be written is found, too. Safe for
 * concurrent use.
 */
public final class ResponseStore implements AutoCloseable {
  private static final System.Logger LOG = System.getLogger(ResponseStore.class.getName());
  private static final Duration WAIT = Duration.ofSeconds(5);
  private static final Duration LAST_WRITES = Duration.ofSeconds(5);
  private static final int READERS = 4;
  private static final int QUEUED_READS = 256;

  /** Responses of one conversation: each is a statement of its own. */
  static final int MAX_TURNS = 1000;

  private final Storing storing;
  private final int maxInputBytes;
  private final Database database;
  private final WaitingResponses waiting;
  private final ResponseWriter writer;
  private final Metrics.Counter lost;
  private final AtomicBoolean full = new AtomicBoolean(); // as told to the log
  private final ThreadPoolExecutor readers;
  private final ConcurrentLinkedDeque<Connection> idle = new ConcurrentLinkedDeque<>();
  private @Nullable Thread writing; // once started

  /** Opens the store that the settings describe; nothing is touched before {@link #start}. */
  public ResponseStore(ResponsesSettings settings, InstantSource clock, Metrics metrics) {
    this(settings, database(settings), clock, metrics);
  }

  ResponseStore(
      ResponsesSettings settings, Database database, InstantSource clock, Metrics metrics) {
    this.storing = settings.storing();
    this.maxInputBytes = settings.maxInputBytes();
    this.database = database;
    this.waiting = new WaitingResponses(settings.queueBytes());
    this.lost = metrics.counter(ResponseMetrics.LOST);
    this.writer =
        new ResponseWriter(
            database,
            waiting,
            new ResponseWriter.Retention(
                settings.maxAge(), settings.maxResponses(), settings.maxBytes()),
            clock,
            metrics.counter(ResponseMetrics.WRITTEN),
            lost);
    this.readers =
        new ThreadPoolExecutor(
            READERS,
            READERS,
            30,
            TimeUnit.SECONDS,
            new ArrayBlockingQueue<>(QUEUED_READS),
            Thread.ofPlatform().name("dynamo-responses-", 0).daemon().factory());
    readers.allowCoreThreadTimeOut(true);
    metrics.gauge(ResponseMetrics.WAITING, waiting::count);
  }

  private static Database database(ResponsesSettings settings) {
    var url = settings.database();
    return url == null
        ? new EmbeddedDatabase(settings.folder())
        : new PostgresDatabase(url, settings.user(), settings.password());
  }

  /** Starts to write, unless nothing is ever stored. Called once. */
  public synchronized void start() {
    if (isOn()) {
      writing = Thread.ofPlatform().daemon().name("dynamo-responses-writer").start(writer);
    }
  }

  /** Whether responses can be stored and continued. */
  public boolean isOn() {
    return storing != Storing.OFF;
  }

  /** Whether responses are stored whose request does not say. */
  public boolean storesByDefault() {
    return storing == Storing.BY_DEFAULT;
  }

  /** The bound on the input of a response that is stored. */
  public int maxInputBytes() {
    return maxInputBytes;
  }

  /** Stores a response, soon; never waits. One for which there is no room is lost and counted. */
  public void store(StoredResponse response) {
    if (waiting.add(response)) {
      full.set(false);
      return;
    }
    lost.increment();
    if (full.compareAndSet(false, true)) {
      LOG.log(
          Level.WARNING,
          "a response of {0} bytes is lost, and more may be: dynamo.frontend.responses.queue-bytes"
              + " are full, since the database is down or too slow",
          response.bytes());
    }
  }

  /**
   * Finds a response.
   *
   * @throws ApiException with 503 when the database does not answer
   */
  public Optional<StoredResponse> find(String id, Deadline deadline) throws InterruptedException {
    if (!ResponseIds.isPossible(id)) {
      return Optional.empty();
    }
    var unwritten = waiting.get(id);
    return unwritten == null
        ? ask(table -> Optional.ofNullable(table.find(id, writer.oldestMillis())), deadline)
        : Optional.of(unwritten);
  }

  /**
   * Finds a response and all that it continues.
   *
   * @param maxBytes of all together
   * @throws ApiException with 503 when the database does not answer
   */
  public StoredConversation conversation(String id, long maxBytes, Deadline deadline)
      throws InterruptedException {
    if (!ResponseIds.isPossible(id)) {
      return new StoredConversation.Missing(id);
    }
    var first = waiting.get(id);
    return first != null && first.previousId() == null && first.bytes() <= maxBytes
        ? new StoredConversation.Complete(List.of(first)) // without the database, which may be down
        : ask(table -> gathered(table, id, maxBytes), deadline);
  }

  private StoredConversation gathered(ResponseTable table, String newest, long maxBytes)
      throws SQLException {
    var turns = new ArrayDeque<StoredResponse>();
    long bytes = 0;
    for (String id = newest; id != null; id = turns.getFirst().previousId()) {
      var turn = waiting.get(id);
      if (turn == null) {
        turn = table.find(id, writer.oldestMillis());
      }
      if (turn == null) {
        return new StoredConversation.Missing(id);
      }
      bytes += turn.bytes();
      if (bytes > maxBytes) {
        return new StoredConversation.TooLong(maxBytes + " bytes");
      }
      if (turns.size() == MAX_TURNS) {
        return new StoredConversation.TooLong(MAX_TURNS + " responses");
      }
      turns.addFirst(turn);
    }
    return new StoredConversation.Complete(new ArrayList<>(turns));
  }

  /**
   * Deletes a response; returns whether it was there.
   *
   * @throws ApiException with 503 when the database does not answer; the response stays then
   */
  public boolean delete(String id, Deadline deadline) throws InterruptedException {
    return ResponseIds.isPossible(id) && run(() -> writer.delete(id, WAIT.toNanos()), deadline);
  }

  private interface Question<T> {
    T answer(ResponseTable table) throws SQLException;
  }

  private <T> T ask(Question<T> question, Deadline deadline) throws InterruptedException {
    return run(() -> answer(question), deadline);
  }

  /** Asks on a pooled connection; one that broke while it was idle is replaced once. */
  private <T> T answer(Question<T> question) throws SQLException {
    var pooled = idle.pollFirst();
    if (pooled != null) {
      try {
        return answer(question, pooled);
      } catch (SQLException e) {
        LOG.log(Level.DEBUG, "a pooled connection broke", e);
      }
    }
    return answer(question, ResponseTable.connect(database));
  }

  private <T> T answer(Question<T> question, Connection connection) throws SQLException {
    boolean well = false;
    try {
      var answer = question.answer(new ResponseTable(connection));
      well = true;
      return answer;
    } finally {
      if (well && !waiting.isClosed()) {
        idle.addFirst(connection);
      } else {
        connection.close();
      }
    }
  }

  private <T> T run(Callable<T> work, Deadline deadline) throws InterruptedException {
    var task = new FutureTask<>(work);
    try {
      readers.execute(task);
      return task.get(Math.max(0, deadline.within(WAIT).remainingNanos()), TimeUnit.NANOSECONDS);
    } catch (RejectedExecutionException e) {
      throw unavailable("too many requests wait for the database of responses");
    } catch (TimeoutException e) {
      throw unavailable("the database of responses did not answer in time");
    } catch (ExecutionException e) {
      LOG.log(Level.DEBUG, "the database of responses failed", e.getCause());
      throw unavailable("the database of responses is down");
    } finally {
      task.cancel(false); // an interrupt would break the embedded database
      readers.remove(task);
    }
  }

  private static ApiException unavailable(String why) {
    return new ApiException(
        ApiError.unavailable(
            why + "; requests without previous_response_id are served", "response_store_down"));
  }

  /** Waits until nothing waits to be written; returns false when the time was over first. */
  boolean awaitWritten(Duration timeout) throws InterruptedException {
    return waiting.awaitEmpty(timeout.toNanos(), TimeUnit.NANOSECONDS);
  }

  /** Writes what waits, for a few seconds at most, and closes the database. Idempotent. */
  @Override
  public synchronized void close() {
    waiting.close();
    readers.shutdown();
    try {
      boolean written = writing == null || writing.join(LAST_WRITES);
      if (!written || !readers.awaitTermination(LAST_WRITES.toMillis(), TimeUnit.MILLISECONDS)) {
        LOG.log(
            Level.WARNING,
            "the database of responses did not finish its last statements within {0}",
            LAST_WRITES);
      }
    } catch (InterruptedException e) {
      Thread.currentThread().interrupt();
    }
    for (var left = idle.pollFirst(); left != null; left = idle.pollFirst()) {
      try {
        left.close();
      } catch (SQLException e) {
        LOG.log(Level.DEBUG, "an idle connection could not be closed", e);
      }
    }
    if (writing != null) {
      writing = null;
      database.close();
    }
  }
}
