package io.dynamo.frontend.batches;

import io.dynamo.concurrent.Deadline;
import io.dynamo.frontend.ApiError;
import io.dynamo.frontend.ApiException;
import io.dynamo.frontend.responses.Database;
import io.dynamo.frontend.responses.DatabasePool;
import io.dynamo.frontend.responses.Sql;
import java.lang.System.Logger.Level;
import java.sql.Connection;
import java.sql.SQLException;
import java.time.Duration;
import java.util.Objects;
import java.util.concurrent.RejectedExecutionException;
import java.util.concurrent.TimeoutException;
import java.util.concurrent.atomic.AtomicBoolean;

/**
 * Runs statements on the tables of files and batches, on the threads of a pool. Callers wait, a few
 * seconds at most. Safe for concurrent use.
 */
final class BatchDatabase implements AutoCloseable {
  private static final System.Logger LOG = System.getLogger(BatchDatabase.class.getName());
  private static final String BAD_DATA = "22"; // classes of SQL states
  private static final String LIMIT_EXCEEDED = "54";
  static final Duration WAIT = Duration.ofSeconds(5);

  private final Database database;
  private final Duration wait;
  private final DatabasePool pool;
  private final AtomicBoolean down = new AtomicBoolean(); // as last logged

  /**
   * @param wait the longest time for an answer
   */
  BatchDatabase(Database database, Duration wait) {
    this.database = database;
    this.wait = wait;
    this.pool = new DatabasePool("dynamo-batches-db-", _ -> open());
  }

  /** Statements; run again on another connection when the first one broke while it was idle. */
  interface Work<T> {
    T run(Sql sql) throws SQLException;
  }

  /**
   * Reads; where there is no database yet, none is made.
   *
   * @param none the result without a database
   * @throws ApiException with 503 when the database does not answer
   */
  <T> T read(T none, Work<T> work) throws InterruptedException {
    return database.mayHoldRows() ? write(work) : none;
  }

  /**
   * Reads and changes.
   *
   * @param work may be done twice, or after the caller has given up
   * @throws ApiException with 503 when the database does not answer: whether the work is done is
   *     unknown then; with 500 when a value is none that it keeps
   */
  <T> T write(Work<T> work) throws InterruptedException {
    try {
      var result =
          pool.run(
              connection -> work.run(new Sql(Objects.requireNonNull(connection))),
              Deadline.after(wait));
      if (down.compareAndSet(true, false)) {
        LOG.log(Level.INFO, "the database of batches at {0} answers again", database.place());
      }
      return result;
    } catch (RejectedExecutionException e) {
      throw unavailable("too many requests wait for the database of batches");
    } catch (TimeoutException e) {
      throw failed("the database of batches did not answer in time", "no answer in " + wait);
    } catch (SQLException e) {
      LOG.log(Level.DEBUG, "the database of batches failed", e);
      if (isRefusal(e)) {
        throw new ApiException(500, "the database of batches cannot keep such a value");
      }
      throw failed(
          "the database of batches is down", e.getSQLState() + ", " + e.getClass().getSimpleName());
    }
  }

  /** Whether the value is at fault, not the database: the next time it would fail, too. */
  private static boolean isRefusal(SQLException e) {
    var state = e.getSQLState();
    return state != null && (state.startsWith(BAD_DATA) || state.startsWith(LIMIT_EXCEEDED));
  }

  /** Logs the first failure of an outage. */
  private ApiException failed(String message, String cause) {
    if (down.compareAndSet(false, true)) {
      LOG.log(
          Level.WARNING,
          "the database of batches at {0} fails ({1}); batches wait for it",
          database.place(),
          cause);
    }
    return unavailable(message);
  }

  private static ApiException unavailable(String why) {
    return new ApiException(ApiError.unavailable(why, "batch_store_down"));
  }

  /** Opens a connection, and makes the tables unless they are there. */
  private Connection open() throws SQLException {
    var opened = database.open();
    boolean made = false;
    try {
      BatchTables.create(new Sql(opened), database.bytesType());
      made = true;
      return opened;
    } finally {
      if (!made) {
        opened.close();
      }
    }
  }

  /** Waits for the last statements, and closes the connections. Idempotent. */
  @Override
  public void close() {
    try {
      if (!pool.close(WAIT)) {
        LOG.log(Level.WARNING, "the database of batches did not finish within {0}", WAIT);
      }
    } catch (InterruptedException e) {
      Thread.currentThread().interrupt();
    }
    database.close();
  }
}
