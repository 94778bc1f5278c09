package io.dynamo.frontend.responses;

import io.dynamo.concurrent.Deadline;
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
import org.jspecify.annotations.Nullable;

/**
 * Runs work on the connections of one database, on a few threads that nobody interrupts, each
 * within its deadline. Work that its caller gave up is not begun, and not done again. Safe for
 * concurrent use; callers wait.
 */
public final class DatabasePool {
  private static final System.Logger LOG = System.getLogger(DatabasePool.class.getName());
  private static final int THREADS = 4;
  private static final int QUEUED = 256;

  private final Source source;
  private final ThreadPoolExecutor threads;
  private final ConcurrentLinkedDeque<Connection> idle = new ConcurrentLinkedDeque<>();

  /** Opens connections that have the tables. */
  public interface Source {
    /**
     * Opens a connection.
     *
     * @return null where there is nothing to read yet
     */
    @Nullable Connection open(Deadline deadline) throws SQLException, TimeoutException;
  }

  /** Statements; they may be run again on another connection when the first one broke. */
  public interface Work<T> {
    /**
     * Runs the statements.
     *
     * @param connection null where there is nothing to read yet
     */
    T run(@Nullable Connection connection) throws SQLException, TimeoutException;
  }

  /**
   * @param threadNames to which a number is added
   */
  public DatabasePool(String threadNames, Source source) {
    this.source = source;
    this.threads =
        new ThreadPoolExecutor(
            THREADS,
            THREADS,
            30,
            TimeUnit.SECONDS,
            new ArrayBlockingQueue<>(QUEUED),
            Thread.ofPlatform().name(threadNames, 0).daemon().factory());
    threads.allowCoreThreadTimeOut(true);
  }

  /**
   * Runs work on a pooled connection, and waits for it; a connection that broke while it was idle
   * is replaced once.
   *
   * @throws RejectedExecutionException when too many others wait
   * @throws TimeoutException at the deadline: whether the work is done is unknown then
   */
  public <T> T run(Work<T> work, Deadline deadline)
      throws SQLException, TimeoutException, InterruptedException {
    return call(() -> onConnection(work, deadline), deadline);
  }

  /**
   * Runs work without a connection, and waits for it.
   *
   * @param work ends at the deadline by itself, as nothing interrupts it
   * @throws RejectedExecutionException when too many others wait
   * @throws TimeoutException at the deadline: whether the work is done is unknown then
   */
  public <T> T call(Callable<T> work, Deadline deadline)
      throws SQLException, TimeoutException, InterruptedException {
    var task = new FutureTask<>(work);
    try {
      threads.execute(task);
      return task.get(Math.max(0, deadline.remainingNanos()), TimeUnit.NANOSECONDS);
    } catch (ExecutionException e) {
      throw failure(e);
    } finally {
      task.cancel(false); // an interrupt would break the embedded database
      threads.remove(task);
    }
  }

  /** Only a failure of the database is one of the service; others are faults of this code. */
  private static RuntimeException failure(ExecutionException failed)
      throws SQLException, TimeoutException {
    return switch (failed.getCause()) {
      case TimeoutException e -> throw e;
      case SQLException e -> throw e;
      case Error e -> throw e;
      case RuntimeException e -> e;
      case null, default -> new IllegalStateException(failed);
    };
  }

  /** Ends work whose caller has given up. */
  public static void requireTime(Deadline deadline) throws TimeoutException {
    if (deadline.isExpired()) {
      throw new TimeoutException("nobody waits for the answer any more");
    }
  }

  private <T> T onConnection(Work<T> work, Deadline deadline)
      throws SQLException, TimeoutException {
    requireTime(deadline);
    var pooled = idle.pollFirst();
    if (pooled != null) {
      try {
        return on(pooled, work);
      } catch (SQLException e) {
        LOG.log(Level.DEBUG, "a pooled connection broke", e);
        requireTime(deadline);
      }
    }
    var opened = source.open(deadline);
    return opened == null ? work.run(null) : on(opened, work);
  }

  private <T> T on(Connection connection, Work<T> work) throws SQLException, TimeoutException {
    boolean well = false;
    try {
      var result = work.run(connection);
      well = true;
      return result;
    } catch (ApiException refusal) { // of the client: the connection is well
      well = true;
      throw refusal;
    } finally {
      if (well && !threads.isShutdown()) {
        idle.addFirst(connection);
      } else {
        connection.close();
      }
    }
  }

  /** Accepts no further work. */
  public void shutdown() {
    threads.shutdown();
  }

  /** Waits for the last work and closes idle connections; returns false when some goes on. */
  public boolean close(Duration timeout) throws InterruptedException {
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
