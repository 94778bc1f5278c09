package io.dynamo.frontend.responses;

import io.dynamo.metrics.Metrics;
import java.lang.System.Logger.Level;
import java.sql.Connection;
import java.sql.SQLException;
import java.time.Duration;
import java.time.InstantSource;
import java.util.List;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.TimeoutException;
import java.util.concurrent.locks.ReentrantLock;
import org.jspecify.annotations.Nullable;

/**
 * Writes waiting responses to the database and deletes what exceeds the bounds, on a thread of its
 * own. While the database is down it tries again, once a second; nothing is taken from the queue
 * before it is written.
 */
final class ResponseWriter implements Runnable {
  private static final System.Logger LOG = System.getLogger(ResponseWriter.class.getName());
  private static final int BATCH_COUNT = 64;
  private static final long BATCH_BYTES = 4 << 20;
  private static final long RETRY_NANOS = TimeUnit.SECONDS.toNanos(1);
  private static final long SWEEP_NANOS = TimeUnit.MINUTES.toNanos(1);

  /** How long responses are kept, and how many. */
  record Retention(Duration maxAge, long maxResponses, long maxBytes) {}

  private final Database database;
  private final WaitingResponses waiting;
  private final Retention retention;
  private final InstantSource clock;
  private final Metrics.Counter written;
  private final Metrics.Counter lost;
  private final ReentrantLock lock = new ReentrantLock(); // guards what follows
  private @Nullable Connection connection;
  private ResponseTable.Extent extent = new ResponseTable.Extent(0, 0); // about
  private long sweptNanos;
  private boolean down; // as told to the log

  ResponseWriter(
      Database database,
      WaitingResponses waiting,
      Retention retention,
      InstantSource clock,
      Metrics.Counter written,
      Metrics.Counter lost) {
    this.database = database;
    this.waiting = waiting;
    this.retention = retention;
    this.clock = clock;
    this.written = written;
    this.lost = lost;
  }

  @Override
  public void run() {
    boolean due = database.opensAtStart();
    try {
      while (true) {
        if (!due) {
          waiting.awaitAny(isOpen() ? SWEEP_NANOS : Long.MAX_VALUE);
        }
        boolean last = waiting.isClosed();
        if (last && waiting.count() == 0) {
          return;
        }
        due = false;
        if (!writeAll()) {
          if (last) {
            giveUp();
            return;
          }
          waiting.awaitClose(RETRY_NANOS);
          due = true;
        }
      }
    } catch (InterruptedException e) {
      Thread.currentThread().interrupt(); // nobody interrupts it but the end of the process
    } finally {
      close();
    }
  }

  private boolean isOpen() {
    lock.lock();
    try {
      return connection != null;
    } finally {
      lock.unlock();
    }
  }

  /** Writes all that wait; returns whether the database took them. */
  private boolean writeAll() {
    try {
      List<StoredResponse> batch;
      do {
        lock.lock();
        try {
          var table = opened();
          batch = waiting.first(BATCH_COUNT, BATCH_BYTES);
          write(table, batch);
        } finally {
          lock.unlock();
        }
      } while (!batch.isEmpty());
      reportUp();
      return true;
    } catch (SQLException e) {
      reportDown(e);
      return false;
    }
  }

  /** Called with the lock. The batch leaves the queue when all is done. */
  private void write(ResponseTable table, List<StoredResponse> batch) throws SQLException {
    if (batch.isEmpty()) {
      return;
    }
    try {
      table.add(batch);
    } catch (SQLException e) {
      if (!isRefusal(e)) {
        throw e;
      }
      for (var response : batch) {
        writeAlone(table, response);
      }
    }
    for (var response : batch) {
      extent = extent.with(response);
    }
    if (!extent.isWithin(retention.maxResponses(), retention.maxBytes())) {
      extent = table.trim(table.extent(), retention.maxResponses(), retention.maxBytes());
    }
    for (var response : batch) {
      if (waiting.remove(response.id())) {
        written.increment();
      }
    }
  }

  /** Called with the lock. One that the database refuses must not hold up the others. */
  private void writeAlone(ResponseTable table, StoredResponse response) throws SQLException {
    try {
      table.add(List.of(response));
    } catch (SQLException e) {
      if (!isRefusal(e)) {
        throw e;
      }
      waiting.remove(response.id());
      lost.increment();
      LOG.log(
          Level.ERROR,
          "the database {0} refused a response of {1} bytes, which is lost: SQL state {2}",
          database.place(),
          response.bytes(),
          e.getSQLState());
    }
  }

  /** Whether the values themselves are at fault: the classes of data and of constraints. */
  private static boolean isRefusal(SQLException e) {
    var state = e.getSQLState();
    return state != null && (state.startsWith("22") || state.startsWith("23"));
  }

  /** Opens the connection where there is none, and sweeps when it is time. Called with the lock. */
  private ResponseTable opened() throws SQLException {
    var open = connection;
    if (open == null) {
      open = ResponseTable.connect(database);
      connection = open;
      sweep(new ResponseTable(open));
    } else if (System.nanoTime() - sweptNanos >= SWEEP_NANOS) {
      sweep(new ResponseTable(open));
    }
    return new ResponseTable(open);
  }

  private void sweep(ResponseTable table) throws SQLException {
    table.deleteBefore(oldestMillis());
    extent = table.trim(table.extent(), retention.maxResponses(), retention.maxBytes());
    sweptNanos = System.nanoTime();
  }

  /** The time of the oldest responses that are kept. */
  long oldestMillis() {
    return clock.millis() - retention.maxAge().toMillis();
  }

  /**
   * Deletes a response, written or not; returns whether it was there.
   *
   * @throws SQLException when the database is down: the response is as it was
   * @throws TimeoutException when a write takes too long
   */
  boolean delete(String id, long timeoutNanos)
      throws SQLException, InterruptedException, TimeoutException {
    if (!lock.tryLock(timeoutNanos, TimeUnit.NANOSECONDS)) {
      throw new TimeoutException("the database does not finish its last write");
    }
    try {
      boolean was = opened().delete(id);
      return waiting.remove(id) || was;
    } catch (SQLException e) {
      reportDown(e);
      throw e;
    } finally {
      lock.unlock();
    }
  }

  private void reportUp() {
    lock.lock();
    try {
      if (down) {
        down = false;
        LOG.log(Level.INFO, "the database {0} of responses is back", database.place());
      }
    } finally {
      lock.unlock();
    }
  }

  /** Drops the connection; tells the log once per outage. Values are not in the message. */
  private void reportDown(SQLException cause) {
    lock.lock();
    try {
      closeConnection();
      if (!down) {
        down = true;
        LOG.log(
            Level.WARNING,
            "the database {0} of responses is down; requests without previous_response_id go on,"
                + " and up to dynamo.frontend.responses.queue-bytes wait to be written: {1} (SQL"
                + " state {2})",
            database.place(),
            cause.getMessage(),
            cause.getSQLState());
      }
    } finally {
      lock.unlock();
    }
  }

  private void giveUp() {
    int left = waiting.count();
    lost.add(left);
    LOG.log(
        Level.WARNING,
        "{0} responses are lost: the server stops and the database {1} is down",
        left,
        database.place());
  }

  private void close() {
    lock.lock();
    try {
      closeConnection();
    } finally {
      lock.unlock();
    }
  }

  private void closeConnection() {
    var open = connection;
    connection = null;
    if (open != null) {
      try {
        open.close();
      } catch (SQLException e) {
        LOG.log(Level.DEBUG, "a connection that is given up could not be closed", e);
      }
    }
  }
}
