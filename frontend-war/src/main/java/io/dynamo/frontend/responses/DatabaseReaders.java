package io.dynamo.frontend.responses;

import io.dynamo.concurrent.Deadline;
import io.dynamo.frontend.ApiError;
import io.dynamo.frontend.ApiException;
import java.lang.System.Logger.Level;
import java.sql.Connection;
import java.sql.SQLException;
import java.time.Duration;
import java.util.concurrent.Callable;
import java.util.concurrent.RejectedExecutionException;
import java.util.concurrent.TimeoutException;
import org.jspecify.annotations.Nullable;

/**
 * Asks the database of responses on the threads of a pool, each query within its deadline. Safe for
 * concurrent use; callers wait.
 */
final class DatabaseReaders {
  private static final System.Logger LOG = System.getLogger(DatabaseReaders.class.getName());

  private final Database database;
  private final DatabasePool pool;

  DatabaseReaders(Database database) {
    this.database = database;
    this.pool = new DatabasePool("dynamo-responses-", this::open);
  }

  /** A query of one or more statements; it changes nothing, as it may be asked twice. */
  interface DatabaseQuery<T> {
    T answer(StoredRows rows) throws SQLException, TimeoutException;
  }

  /** Work on the pool. */
  interface PoolCall<T> {
    T run() throws SQLException, TimeoutException, InterruptedException;
  }

  /**
   * Asks, and waits for the answer.
   *
   * @throws ApiException with 503 when the database does not answer
   */
  <T> T ask(DatabaseQuery<T> query, Deadline deadline) throws InterruptedException {
    return translated(
        () ->
            pool.run(
                connection ->
                    query.answer(
                        connection == null ? StoredRows.NONE : new ResponseTable(connection)),
                deadline));
  }

  /**
   * Runs {@code work} on one of the threads, and waits for it.
   *
   * @param work ends at the deadline by itself, as nothing interrupts it
   * @throws ApiException with 503 when it does not end in time or the database is down
   */
  <T> T run(Callable<T> work, Deadline deadline) throws InterruptedException {
    return translated(() -> pool.call(work, deadline));
  }

  /**
   * Runs {@code call}.
   *
   * @throws ApiException with 503 when the database fails it
   */
  static <T> T translated(PoolCall<T> call) throws InterruptedException {
    try {
      return call.run();
    } catch (RejectedExecutionException e) {
      throw unavailable("too many requests wait for the database of responses");
    } catch (TimeoutException e) {
      throw unavailable("the database of responses did not answer in time");
    } catch (SQLException e) {
      LOG.log(Level.DEBUG, "the database of responses failed", e);
      throw unavailable("the database of responses is down");
    }
  }

  private static ApiException unavailable(String why) {
    return new ApiException(
        ApiError.unavailable(
            why + "; requests without previous_response_id or conversation are served",
            "response_store_down"));
  }

  /** Opens a connection; null where there is no table yet, and none is made. */
  private @Nullable Connection open(Deadline deadline) throws SQLException, TimeoutException {
    if (!database.mayHoldRows()) {
      return null;
    }
    var opened = database.open();
    boolean exists = false;
    try {
      DatabasePool.requireTime(deadline);
      exists = new ResponseTable(opened).exists();
    } finally {
      if (!exists) {
        opened.close();
      }
    }
    return exists ? opened : null;
  }

  /** Accepts no further queries. */
  void shutdown() {
    pool.shutdown();
  }

  /** Waits for the last answers and closes idle connections; returns false when one is missing. */
  boolean close(Duration timeout) throws InterruptedException {
    return pool.close(timeout);
  }
}
