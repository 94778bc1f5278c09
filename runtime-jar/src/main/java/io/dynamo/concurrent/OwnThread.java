package io.dynamo.concurrent;

import java.util.concurrent.ExecutionException;
import java.util.concurrent.FutureTask;
import java.util.function.Supplier;

/**
 * Runs work on a new thread while the caller waits. Values that libraries leave in thread-local
 * variables end with the thread, so no pool thread of a container keeps an application's class
 * loader after the application has gone.
 */
public final class OwnThread {
  private OwnThread() {}

  /**
   * Runs {@code work} to its end, also when the caller is interrupted; the interrupt status is
   * kept. The caller must hold no lock that {@code work} needs.
   *
   * @throws RuntimeException as thrown by {@code work}, unchanged; errors alike
   */
  public static void run(String name, Runnable work) {
    call(
        name,
        () -> {
          work.run();
          return name;
        });
  }

  /** Runs {@code work} like {@link #run} and returns its result. */
  public static <T> T call(String name, Supplier<T> work) {
    var task = new FutureTask<T>(work::get);
    Thread.ofVirtual().name(name).start(task);
    boolean interrupted = false;
    try {
      while (true) {
        try {
          return task.get();
        } catch (InterruptedException e) {
          interrupted = true;
        } catch (ExecutionException e) {
          throw unwrapped(e);
        }
      }
    } finally {
      if (interrupted) {
        Thread.currentThread().interrupt();
      }
    }
  }

  private static RuntimeException unwrapped(ExecutionException failed) {
    return switch (failed.getCause()) {
      case RuntimeException e -> e;
      case Error e -> throw e;
      case null, default -> new IllegalStateException(failed);
    };
  }
}
