package io.dynamo.runtime.wiring;

import io.dynamo.concurrent.Deadline;
import io.dynamo.runtime.RoleLifecycle;
import java.lang.System.Logger.Level;
import java.time.Duration;
import java.util.ArrayDeque;
import java.util.Deque;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import org.jspecify.annotations.Nullable;

/**
 * The roles of one runtime, and their stopping: each on a separate thread, all by one deadline,
 * without a lock being held. Safe for concurrent use.
 */
final class AttachedRoles {
  private static final System.Logger LOG = System.getLogger(RuntimeLifecycle.class.getName());
  private static final Duration ONE_STOP = Duration.ofMinutes(1); // a later detach is another's

  private record Stop(RoleLifecycle role, Deadline deadline, Thread thread) {}

  private final Duration drainTimeout;
  private final Duration lastWords;
  private final Deque<RoleLifecycle> attached = new ArrayDeque<>(); // guarded by this
  private final Map<RoleLifecycle, Stop> stopping = new HashMap<>(); // guarded by this
  private @Nullable Deadline end; // of the current stop; guarded by this

  /**
   * @param drainTimeout from the first stop to the deadline of all roles
   * @param lastWords how long after the deadline a role may take to end its remaining work
   */
  AttachedRoles(Duration drainTimeout, Duration lastWords) {
    this.drainTimeout = drainTimeout;
    this.lastWords = lastWords;
  }

  synchronized void attach(RoleLifecycle role) {
    attached.push(role);
    if (stopping.isEmpty()) {
      end = null; // roles stopped earlier belonged to a single module, not the application
    }
  }

  /**
   * Stops {@code role}, or waits for the thread that is stopping it. Does nothing for a role that
   * is not attached.
   */
  void stop(RoleLifecycle role) {
    var stop = begin(role);
    if (stop != null) {
      await(stop);
    }
  }

  /**
   * Waits for roles that are already stopping, then stops the others, the last one attached first.
   */
  void stopAll() {
    underway().forEach(this::await);
    for (var role = last(); role != null; role = last()) {
      stop(role);
    }
  }

  private synchronized List<Stop> underway() {
    return List.copyOf(stopping.values());
  }

  private synchronized @Nullable RoleLifecycle last() {
    return attached.peek();
  }

  private synchronized @Nullable Stop begin(RoleLifecycle role) {
    if (!attached.remove(role)) {
      return stopping.get(role);
    }
    var deadline = deadline();
    var thread =
        Thread.ofVirtual().name("stop-" + role.name()).unstarted(() -> run(role, deadline));
    var stop = new Stop(role, deadline, thread);
    stopping.put(role, stop);
    thread.start();
    return stop;
  }

  private synchronized Deadline deadline() {
    var current = end;
    if (current == null || current.remainingNanos() < -ONE_STOP.toNanos()) {
      current = Deadline.after(drainTimeout);
      end = current;
    }
    return current;
  }

  private void run(RoleLifecycle role, Deadline deadline) {
    try {
      role.stop(deadline);
    } catch (InterruptedException _) {
      Thread.currentThread().interrupt();
    } catch (RuntimeException | Error e) {
      LOG.log(Level.ERROR, "role " + role.name() + " failed to stop; the others go on", e);
    } finally {
      forget(role);
    }
  }

  private synchronized void forget(RoleLifecycle role) {
    stopping.remove(role);
  }

  private void await(Stop stop) {
    var patience = Math.max(0, stop.deadline.remainingNanos()) + lastWords.toNanos();
    try {
      if (stop.thread.join(Duration.ofNanos(patience))) {
        return;
      }
      LOG.log(
          Level.WARNING,
          "role {0} has not stopped by its deadline; going on without it",
          stop.role.name());
    } catch (InterruptedException _) {
      Thread.currentThread().interrupt();
    }
    stop.thread.interrupt();
    forget(stop.role);
  }
}
