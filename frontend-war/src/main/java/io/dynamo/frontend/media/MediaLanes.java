package io.dynamo.frontend.media;

import io.dynamo.concurrent.Cancellation;
import io.dynamo.concurrent.Deadline;
import io.dynamo.error.CancelledException;
import io.dynamo.error.DeadlineExceededException;
import java.util.HashSet;
import java.util.List;
import java.util.Map;
import java.util.Set;
import java.util.TreeMap;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.CompletionException;
import java.util.concurrent.ExecutionException;
import java.util.concurrent.Executor;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.TimeoutException;
import org.jspecify.annotations.Nullable;

/**
 * Runs the tasks of one request, a few at a time, and waits for all. When one fails, or the request
 * is cancelled or late, those under way are interrupted and the others are not begun. Used once, by
 * one thread.
 */
final class MediaLanes<T> {
  /** A task, interrupted when its result is not wanted any more. */
  @FunctionalInterface
  interface Task<T> {
    T run() throws InterruptedException;
  }

  private final List<Task<T>> tasks;
  private final Map<Integer, T> results = new TreeMap<>(); // guarded by this, as all that follows
  private final Set<Thread> working = new HashSet<>();
  private final CompletableFuture<List<T>> done = new CompletableFuture<>();
  private int next;
  private boolean ended;

  MediaLanes(List<Task<T>> tasks) {
    this.tasks = tasks;
  }

  /**
   * Runs the tasks.
   *
   * @param most at once
   * @param threads makes a virtual thread for each lane
   * @return the results in the order of the tasks
   */
  List<T> run(int most, Executor threads, Deadline deadline, Cancellation cancellation)
      throws InterruptedException {
    try (var _ =
        cancellation.onCancel(
            level -> done.completeExceptionally(new CancelledException("the client left")))) {
      for (int i = 0; i < Math.min(most, tasks.size()); i++) {
        threads.execute(this::lane);
      }
      return done.get(Math.max(0, deadline.remainingNanos()), TimeUnit.NANOSECONDS);
    } catch (TimeoutException e) {
      throw late();
    } catch (ExecutionException e) {
      if (deadline.isExpired() && !(e.getCause() instanceof CancelledException)) {
        throw late(); // a fetch that ran into the deadline failed first
      }
      if (e.getCause() instanceof RuntimeException failure) {
        throw failure;
      }
      throw new CompletionException(e);
    } finally {
      end();
    }
  }

  private static DeadlineExceededException late() {
    return new DeadlineExceededException("the media of the request were not fetched in time");
  }

  private void lane() {
    for (int at = take(); at >= 0; at = take()) {
      try {
        finish(at, tasks.get(at).run());
      } catch (InterruptedException e) {
        Thread.currentThread().interrupt();
        done.completeExceptionally(new CancelledException("a fetch was interrupted"));
        break;
      } catch (RuntimeException | Error e) {
        done.completeExceptionally(e);
        break;
      }
    }
    leave();
  }

  private synchronized int take() {
    if (ended || done.isDone() || next == tasks.size()) {
      return -1;
    }
    working.add(Thread.currentThread());
    return next++;
  }

  private void finish(int at, T result) {
    @Nullable List<T> all;
    synchronized (this) {
      results.put(at, result);
      all = results.size() == tasks.size() ? List.copyOf(results.values()) : null;
    }
    if (all != null) {
      done.complete(all);
    }
  }

  private synchronized void leave() {
    working.remove(Thread.currentThread());
  }

  private synchronized void end() {
    ended = true;
    working.forEach(Thread::interrupt);
  }
}
