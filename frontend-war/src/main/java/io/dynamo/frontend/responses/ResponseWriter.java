package io.dynamo.frontend.responses;

import io.dynamo.concurrent.Deadline;
import io.dynamo.metrics.Metrics;
import java.lang.System.Logger.Level;
import java.sql.Connection;
import java.sql.SQLException;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.Objects;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.TimeoutException;
import java.util.concurrent.locks.ReentrantLock;
import org.jspecify.annotations.Nullable;

/**
 * Writes waiting responses to the database and keeps the table within its bounds, on a thread of
 * its own. While the database is down it tries again, once a second; nothing is taken from the
 * queue before it is written. One that cannot be written holds up no other.
 */
final class ResponseWriter implements Runnable {
  private static final System.Logger LOG = System.getLogger(ResponseWriter.class.getName());
  private static final int BATCH_COUNT = 64;
  private static final long BATCH_BYTES = 4 << 20;
  private static final long RETRY_NANOS = TimeUnit.SECONDS.toNanos(1);
  private static final int VALID_SECONDS = 1;

  /** How often one is tried that fails beside others that are written. */
  static final int TRIES = 5;

  private final Database database;
  private final WaitingWrites waiting;
  private final TableBounds bounds;
  private final ConversationSweep conversations;
  private final Metrics.Counter written;
  private final Metrics.Counter lost;
  private final ReentrantLock lock = new ReentrantLock(true); // fair: guards what follows
  private final Map<String, Integer> failures = new HashMap<>(); // of single responses
  private @Nullable Connection connection;
  private boolean down; // as last logged
  private boolean unbounded; // as last logged

  ResponseWriter(
      Database database,
      WaitingWrites waiting,
      TableBounds bounds,
      ConversationSweep conversations,
      Metrics.Counter written,
      Metrics.Counter lost) {
    this.database = database;
    this.waiting = waiting;
    this.bounds = bounds;
    this.conversations = conversations;
    this.written = written;
    this.lost = lost;
  }

  @Override
  public void run() {
    try {
      boolean well = true;
      while (true) {
        if (well) {
          waiting.awaitAny(restNanos());
        } else {
          waiting.awaitClose(RETRY_NANOS);
        }
        boolean last = waiting.isClosed();
        if (last && waiting.count() == 0) {
          return;
        }
        well = work();
        if (last && !well) {
          giveUp();
          return;
        }
      }
    } catch (InterruptedException e) {
      Thread.currentThread().interrupt(); // nobody interrupts it but the end of the process
    } finally {
      close();
    }
  }

  private long restNanos() {
    lock.lock();
    try {
      return hasRows() ? bounds.restNanos() : Long.MAX_VALUE;
    } finally {
      lock.unlock();
    }
  }

  /** Whether there can be rows to delete. Called with the lock. */
  private boolean hasRows() {
    return connection != null || database.mayHoldRows();
  }

  /**
   * Writes all waiting responses, then deletes as the bounds require, until more wait. The lock is
   * free between the steps.
   *
   * @return whether the database took all
   */
  private boolean work() {
    try {
      do {
        lock.lock();
        try {
          var batch = waiting.first(BATCH_COUNT, BATCH_BYTES);
          if (!batch.isEmpty()) {
            write(batch);
            reportUp();
          }
          keepBounds();
        } finally {
          lock.unlock();
        }
      } while (hasWork());
      return true;
    } catch (SQLException e) {
      reportDown(e);
    } catch (Throwable e) { // else nothing would be written any more, and nobody would know
      LOG.log(Level.ERROR, "responses could not be written; it is tried again", e);
      close();
    }
    return false;
  }

  private boolean hasWork() {
    return waiting.count() > 0 || (!waiting.isClosed() && restNanos() <= 0);
  }

  /** Called with the lock. A response leaves the queue when it is written. */
  private void write(List<PendingWrite> batch) throws SQLException {
    try {
      opened().add(batch);
      batch.forEach(this::recordWritten);
    } catch (SQLException | RuntimeException e) {
      writeEach(batch, e);
    }
  }

  /** Writes each alone after all together failed. Called with the lock. */
  private void writeEach(List<PendingWrite> batch, Exception cause) throws SQLException {
    requireConnection(cause);
    boolean anyWritten = false;
    Exception left = null;
    for (var write : batch) {
      try {
        opened().add(List.of(write));
        recordWritten(write);
        anyWritten = true;
      } catch (SQLException | RuntimeException e) {
        requireConnection(e);
        if (isRefusal(e)) {
          lose(write, e);
        } else {
          failures.merge(write.id(), 1, Integer::sum);
          waiting.postpone(write.id());
          left = e;
        }
      }
    }
    if (left == null) {
      return;
    }
    if (anyWritten) {
      for (var write : batch) {
        if (failures.getOrDefault(write.id(), 0) >= TRIES) {
          lose(write, left);
        }
      }
    }
    throw left instanceof SQLException e ? e : new SQLException("the driver failed", left);
  }

  /**
   * Distinguishes a database that is down from one that rejects a response. Called with the lock.
   */
  private void requireConnection(Exception cause) throws SQLException {
    if (cause instanceof RuntimeException) {
      closeConnection(); // its state is unknown
      return;
    }
    var open = connection;
    if (open == null || !open.isValid(VALID_SECONDS)) {
      throw cause instanceof SQLException e ? e : new SQLException(cause);
    }
  }

  private void recordWritten(PendingWrite write) {
    if (write.response() != null) {
      bounds.add(write.response());
    }
    if (write.turn() != null) {
      conversations.recordAdded(0, write.turn().bytes());
    }
    failures.remove(write.id());
    if (waiting.remove(write.id())) {
      written.increment();
    }
  }

  private void lose(PendingWrite write, Exception cause) {
    failures.remove(write.id());
    if (!waiting.remove(write.id())) {
      return;
    }
    lost.increment();
    LOG.log(
        Level.ERROR,
        "the database {0} refused a response of {1} bytes, which is lost: {2}",
        database.place(),
        write.bytes(),
        cause instanceof SQLException e ? "SQL state " + e.getSQLState() : cause.getClass());
  }

  /** Whether the values themselves are at fault: the classes of data and of constraints. */
  private static boolean isRefusal(Exception e) {
    var state = e instanceof SQLException sql ? sql.getSQLState() : null;
    return state != null && (state.startsWith("22") || state.startsWith("23"));
  }

  /** Does one step. Called with the lock; what fails is tried again in a minute. */
  private void keepBounds() {
    if (!bounds.isDue() || !hasRows()) {
      return;
    }
    try {
      bounds.step(opened());
      conversations.runIfDue(new ConversationTable(new Sql(Objects.requireNonNull(connection))));
      unbounded = false;
      reportUp();
    } catch (SQLException | RuntimeException e) {
      closeConnection();
      bounds.postpone();
      if (!unbounded) {
        unbounded = true;
        LOG.log(
            Level.WARNING,
            "responses that are too old or too many could not be deleted from {0}; it is tried"
                + " again every minute: {1}",
            database.place(),
            e.getMessage());
      }
    }
  }

  /** Opens the connection where there is none. Called with the lock. */
  private ResponseTable opened() throws SQLException {
    var open = connection;
    if (open != null) {
      return new ResponseTable(open);
    }
    open = database.open();
    try {
      var table = new ResponseTable(open);
      table.create(database);
      connection = open;
      return table;
    } finally {
      if (connection == null) {
        open.close();
      }
    }
  }

  /**
   * Deletes a response, written or not; returns whether it was there. A connection that broke while
   * it was idle is replaced once.
   *
   * @throws SQLException when the database failed; it may have deleted the response
   * @throws TimeoutException when the deadline passed before the database was asked to
   */
  boolean delete(String id, Deadline deadline)
      throws SQLException, InterruptedException, TimeoutException {
    if (!lock.tryLock(Math.max(0, deadline.remainingNanos()), TimeUnit.NANOSECONDS)) {
      throw new TimeoutException("the database does not finish its last write");
    }
    try {
      if (!hasRows()) {
        return waiting.dropResponse(id);
      }
      boolean fresh = connection == null;
      try {
        return deleteNow(id, deadline);
      } catch (SQLException e) {
        if (fresh) {
          throw e;
        }
        closeConnection();
        return deleteNow(id, deadline);
      }
    } catch (SQLException e) {
      reportDown(e);
      throw e;
    } finally {
      lock.unlock();
    }
  }

  private boolean deleteNow(String id, Deadline deadline) throws SQLException, TimeoutException {
    var table = opened();
    DatabasePool.requireTime(deadline);
    boolean was = table.delete(id);
    failures.remove(id);
    return waiting.dropResponse(id) || was;
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

  /** Drops the connection; logs once per outage. Values are not in the message. */
  private void reportDown(SQLException cause) {
    lock.lock();
    try {
      closeConnection();
      if (!down) {
        down = true;
        LOG.log(
            Level.WARNING,
            "the database {0} of responses is down or does not take them; requests that"
                + " continue nothing go on, and up to dynamo.frontend.responses.queue-bytes"
                + " wait to be written: {1} (SQL state {2})",
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
