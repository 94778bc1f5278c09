package io.dynamo.frontend.responses;

import io.dynamo.concurrent.Deadline;
import io.dynamo.frontend.ApiError;
import io.dynamo.frontend.ApiException;
import java.lang.System.Logger.Level;
import java.sql.Connection;
import java.sql.SQLException;
import java.time.Duration;
import java.util.concurrent.ArrayBlockingQueue;
import java.util.concurrent.Callable;
import java.util.concurrent.ConcurrentLinkedDeque;
import java.util.concurrent.ExecutionException;
import java.util.concurrent.FutureTask;
import java.util.concurrent.RejectedExecutionException;
import java.util.concurrent.ThreadPoolExecutor;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.TimeoutException;

/**
 * Asks the database of responses on a few threads of its own, each query within its deadline. A
 * query that its caller gave up is not begun, and not asked again. Safe for concurrent use; callers
 * wait.
 */
final class DatabaseReaders {
  private static final System.Logger LOG = System.getLogger(DatabaseReaders.class.getName());
  private static final int THREADS = 4;
  private static final int QUEUED = 256;

  private final Database database;
  private final ThreadPoolExecutor threads;
  private final ConcurrentLinkedDeque<Connection> idle = new ConcurrentLinkedDeque<>();

  DatabaseReaders(Database database) {
    this.database = database;
    this.threads =
        new ThreadPoolExecutor(
            THREADS,
            THREADS,
            30,
            TimeUnit.SECONDS,
            new ArrayBlockingQueue<>(QUEUED),
            Thread.ofPlatform().name("dynamo-responses-", 0).daemon().factory());
    threads.allowCoreThreadTimeOut(true);
  }

  /** A query of one or more statements; it changes nothing, as it may be asked twice. */
  interface DatabaseQuery<T> {
    T answer(StoredRows rows) throws SQLException, TimeoutException;
  }

  /**
   * Asks, and waits for the answer.
   *
   * @throws ApiException with 503 when the database does not answer
   */
  <T> T ask(DatabaseQuery<T> query, Deadline deadline) throws InterruptedException {
    return run(() -> answer(query, deadline), deadline);
  }

  /**
   * Runs {@code work} on one of the threads, and waits for it.
   *
   * @param work ends at the deadline by itself, as nothing interrupts it
   * @throws ApiException with 503 when it does not end in time or the database is down
   */
  <T> T run(Callable<T> work, Deadline deadline) throws InterruptedException {
    var task = new FutureTask<>(work);
    try {
      threads.execute(task);
      return task.get(Math.max(0, deadline.remainingNanos()), TimeUnit.NANOSECONDS);
    } catch (RejectedExecutionException e) {
      throw unavailable("too many requests wait for the database of responses");
    } catch (TimeoutException e) {
      throw late();
    } catch (ExecutionException e) {
      throw failure(e);
    } finally {
      task.cancel(false); // an interrupt would break the embedded database
      threads.remove(task);
    }
  }

  /** Only a failure of the database is one of the service; others are faults of this code. */
  private static RuntimeException failure(ExecutionException failed) {
    return switch (failed.getCause()) {
      case TimeoutException _ -> late();
      case SQLException e -> {
        LOG.log(Level.DEBUG, "the database of responses failed", e);
        yield unavailable("the database of responses is down");
      }
      case RuntimeException e -> e;
      case Error e -> throw e;
      case null, default -> new IllegalStateException(failed);
    };
  }

  private static ApiException late() {
    return unavailable("the database of responses did not answer in time");
  }

  private static ApiException unavailable(String why) {
    return new ApiException(
        ApiError.unavailable(
            why + "; requests without previous_response_id are served", "response_store_down"));
  }

  /** Ends work whose caller has given up. */
  static void requireTime(Deadline deadline) throws TimeoutException {
    if (deadline.isExpired()) {
      throw new TimeoutException("nobody waits for the answer any more");
    }
  }

  /** Asks on a pooled connection; one that broke while it was idle is replaced once. */
  private <T> T answer(DatabaseQuery<T> query, Deadline deadline)
      throws SQLException, TimeoutException {
    requireTime(deadline);
    var pooled = idle.pollFirst();
    if (pooled != null) {
      try {
        return answer(query, pooled);
      } catch (SQLException e) {
        LOG.log(Level.DEBUG, "a pooled connection broke", e);
        requireTime(deadline);
      }
    }
    if (!database.mayHoldRows()) {
      return query.answer(StoredRows.NONE);
    }
    var opened = database.open();
    boolean exists = false;
    try {
      requireTime(deadline);
      exists = new ResponseTable(opened).exists();
    } finally {
      if (!exists) {
        opened.close();
      }
    }
    return exists ? answer(query, opened) : query.answer(StoredRows.NONE);
  }

  private <T> T answer(DatabaseQuery<T> query, Connection connection)
      throws SQLException, TimeoutException {
    boolean well = false;
    try {
      var answer = query.answer(new ResponseTable(connection));
      well = true;
      return answer;
    } finally {
      if (well && !threads.isShutdown()) {
        idle.addFirst(connection);
      } else {
        connection.close();
      }
    }
  }

  /** Accepts no further queries. */
  void shutdown() {
    threads.shutdown();
  }

  /** Waits for the last answers and closes idle connections; returns false when one is missing. */
  boolean close(Duration timeout) throws InterruptedException {
    threads.shutdown();
    boolean ended = threads.awaitTermination(timeout.toMillis(), TimeUnit.MILLISECONDS);
    for (var left = idle.pollFirst(); left != null; left = idle.pollFirst()) {
      try {
        left.close();
      } catch (SQLException e) {
        LOG.log(Level.DEBUG, "an idle connection could not be closed", e);
      }
    }
    return ended;
  }
}
