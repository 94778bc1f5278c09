package io.dynamo.frontend.responses;

import io.dynamo.concurrent.Deadline;
import io.dynamo.config.frontend.ResponsesSettings;
import io.dynamo.config.frontend.ResponsesSettings.Storing;
import io.dynamo.frontend.ApiException;
import io.dynamo.metrics.Metrics;
import java.lang.System.Logger.Level;
import java.sql.SQLException;
import java.time.Duration;
import java.time.InstantSource;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import java.util.Optional;
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

  /**
   * Bytes of memory per byte of the largest response while it is loaded: PostgreSQL's driver reads
   * bytes as hex digits.
   */
  private static final int LOADING_COPIES = 3;

  /** Largest number of responses in one conversation: each is read by a statement of its own. */
  static final int MAX_TURNS = 1000;

  private final Storing storing;
  private final int maxInputBytes;
  private final long maxBytes;
  private final Database database;
  private final WaitingWrites waiting;
  private final TableBounds bounds; // the writer's, but for the age
  private final ResponseWriter writer;
  private final Metrics.Counter lost;
  private final AtomicBoolean full = new AtomicBoolean(); // as last logged
  private final DatabaseReaders readers;
  private final ConversationStore conversations;
  private @Nullable Thread writing; // once started

  /** Opens the store that the settings describe; nothing is touched before {@link #start}. */
  public ResponseStore(ResponsesSettings settings, InstantSource clock, Metrics metrics) {
    this(settings, Database.of(settings), clock, metrics);
  }

  ResponseStore(
      ResponsesSettings settings, Database database, InstantSource clock, Metrics metrics) {
    this.storing = settings.storing();
    this.maxInputBytes = settings.maxInputBytes();
    this.maxBytes = settings.maxBytes();
    this.database = database;
    this.waiting = new WaitingWrites(settings.queueBytes());
    this.lost = metrics.counter(ResponseMetrics.LOST);
    this.bounds =
        new TableBounds(
            new TableBounds.Retention(
                settings.maxAge(), settings.maxResponses(), settings.maxBytes()),
            clock);
    var sweep = new ConversationSweep(settings.conversations(), settings.maxAge(), clock);
    this.writer =
        new ResponseWriter(
            database, waiting, bounds, sweep, metrics.counter(ResponseMetrics.WRITTEN), lost);
    this.readers = new DatabaseReaders(database);
    this.conversations = new ConversationStore(database, waiting, sweep);
    metrics.gauge(ResponseMetrics.WAITING, waiting::count);
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

  /** Whether a response is stored when its request does not specify it. */
  public boolean storesByDefault() {
    return storing == Storing.BY_DEFAULT;
  }

  /** The bound on the input of a response that is stored. */
  public int maxInputBytes() {
    return maxInputBytes;
  }

  /** The conversations that responses belong to. */
  public ConversationStore conversations() {
    return conversations;
  }

  /**
   * Stores a response, soon; never waits. One for which there is no room is lost and counted. The
   * log has one line, until half of the room is free again.
   */
  public void store(StoredResponse response) {
    store(new PendingWrite(response.id(), response, null));
  }

  /**
   * Adds an answer to a conversation, soon, as {@link #store} does; it is dropped when the
   * conversation is not there any more.
   *
   * @param turn has the id of the answer
   * @param response null when the response itself is not stored
   */
  public void append(ConversationTurn turn, @Nullable StoredResponse response) {
    store(new PendingWrite(turn.id(), response, turn));
  }

  private void store(PendingWrite response) {
    if (response.bytes() > maxBytes) {
      lost.increment();
      LOG.log(
          Level.WARNING,
          "a response of {0} bytes is lost: it exceeds dynamo.frontend.responses.max-bytes {1}",
          response.bytes(),
          maxBytes);
      return;
    }
    if (waiting.add(response)) {
      if (waiting.isHalfEmpty()) {
        full.set(false);
      }
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

  /** The memory of a caller, asked for before texts are loaded. */
  public interface Room {
    /**
     * Reserves memory, on the caller's thread.
     *
     * @param bytes at the peak of loading; what is loaded takes less
     * @throws ApiException when there is none
     */
    void reserve(long bytes);
  }

  /**
   * Finds a response.
   *
   * @throws ApiException with 503 when the database does not answer
   */
  public Optional<StoredResponse> find(String id, Deadline deadline, Room room)
      throws InterruptedException {
    if (!ResponseIds.isPossible(id)) {
      return Optional.empty();
    }
    var unwritten = waiting.get(id);
    if (unwritten != null) {
      return Optional.of(unwritten);
    }
    var end = deadline.within(WAIT);
    var entry =
        readers.ask(rows -> Optional.ofNullable(rows.entry(id, bounds.oldestMillis())), end);
    if (entry.isEmpty()) {
      return Optional.empty();
    }
    room.reserve(LOADING_COPIES * entry.get().bytes());
    return readers.ask(rows -> Optional.ofNullable(rows.find(id, bounds.oldestMillis())), end);
  }

  /**
   * Finds a response and all that it continues.
   *
   * @param most bytes of all together
   * @throws ApiException with 503 when the database does not answer
   */
  public ResponseChain chain(String id, long most, Deadline deadline, Room room)
      throws InterruptedException {
    if (!ResponseIds.isPossible(id)) {
      return new ResponseChain.Missing(id);
    }
    // Before the database is asked: a reader that found no table does not find what is written
    // since.
    var unwritten = waiting.chain(id, MAX_TURNS);
    var newest = unwritten.get(id);
    if (newest != null && newest.previousId() == null && newest.bytes() <= most) {
      // without the database, which may be down
      return new ResponseChain.Complete(List.of(newest));
    }
    var end = deadline.within(WAIT);
    return switch (readers.ask(rows -> measured(rows, id, unwritten, most, end), end)) {
      case MeasuredChain.Broken(var why) -> why;
      case MeasuredChain.Whole(var ids, var bytes, var largest) -> {
        room.reserve(bytes + (LOADING_COPIES - 1) * largest);
        yield readers.ask(rows -> loaded(rows, ids, unwritten, end), end);
      }
    };
  }

  /** The ids of a conversation, or why there are none. */
  private sealed interface MeasuredChain {
    /**
     * @param ids the newest first
     * @param largest bytes of one response
     */
    record Whole(List<String> ids, long bytes, long largest) implements MeasuredChain {}

    record Broken(ResponseChain why) implements MeasuredChain {}
  }

  /** Measures a conversation without loading its texts. */
  private MeasuredChain measured(
      StoredRows rows,
      String newest,
      Map<String, StoredResponse> unwritten,
      long most,
      Deadline end)
      throws SQLException, TimeoutException {
    var ids = new ArrayList<String>();
    long bytes = 0;
    long largest = 0;
    for (String id = newest; id != null; ) {
      DatabasePool.requireTime(end);
      var turn = unwritten(id, unwritten);
      var entry = turn == null ? rows.entry(id, bounds.oldestMillis()) : turn.entry();
      if (entry == null) {
        return new MeasuredChain.Broken(new ResponseChain.Missing(id));
      }
      bytes += entry.bytes();
      if (bytes > most) {
        return new MeasuredChain.Broken(new ResponseChain.TooLong(most + " bytes"));
      }
      if (ids.size() == MAX_TURNS) {
        return new MeasuredChain.Broken(new ResponseChain.TooLong(MAX_TURNS + " responses"));
      }
      ids.add(id);
      largest = Math.max(largest, entry.bytes());
      id = entry.previousId();
    }
    return new MeasuredChain.Whole(ids, bytes, largest);
  }

  private ResponseChain loaded(
      StoredRows rows, List<String> ids, Map<String, StoredResponse> unwritten, Deadline end)
      throws SQLException, TimeoutException {
    var turns = new ArrayList<StoredResponse>();
    for (var id : ids.reversed()) {
      DatabasePool.requireTime(end);
      var kept = unwritten(id, unwritten);
      var turn = kept == null ? rows.find(id, bounds.oldestMillis()) : kept;
      if (turn == null) {
        return new ResponseChain.Missing(id); // deleted meanwhile
      }
      turns.add(turn);
    }
    return new ResponseChain.Complete(turns);
  }

  /** Returns a response that waits to be written, or did when its conversation was asked for. */
  private @Nullable StoredResponse unwritten(String id, Map<String, StoredResponse> then) {
    var known = then.get(id);
    return known == null ? waiting.get(id) : known;
  }

  /**
   * Deletes a response; returns whether it was there.
   *
   * @throws ApiException with 503 when the database does not answer: whether the response is there
   *     is unknown then, and the caller should ask again. What was not begun in time is not done
   *     later.
   */
  public boolean delete(String id, Deadline deadline) throws InterruptedException {
    var end = deadline.within(WAIT);
    return ResponseIds.isPossible(id) && readers.run(() -> writer.delete(id, end), end);
  }

  /** Waits until all is written and deleted; returns false when the time was over first. */
  boolean awaitRest(Duration timeout) throws InterruptedException {
    return waiting.awaitRest(timeout.toNanos(), TimeUnit.NANOSECONDS);
  }

  /**
   * Writes the waiting responses, for a few seconds at most, and closes the database. Idempotent.
   */
  @Override
  public synchronized void close() {
    waiting.close();
    readers.shutdown();
    conversations.shutdown();
    try {
      boolean written = writing == null || writing.join(LAST_WRITES);
      boolean answered = readers.close(LAST_WRITES);
      if (!conversations.close(LAST_WRITES) || !answered || !written) {
        LOG.log(
            Level.WARNING,
            "the database of responses did not finish its last statements within {0}",
            LAST_WRITES);
      }
    } catch (InterruptedException e) {
      Thread.currentThread().interrupt();
    }
    writing = null;
    database.close();
  }
}
