package io.dynamo.concurrent;

import java.util.ArrayDeque;
import java.util.ArrayList;
import java.util.List;
import java.util.Queue;
import java.util.function.Consumer;
import org.jspecify.annotations.Nullable;

/**
 * A cancellation of two levels: <em>stop</em> (finish early, existing results still count) and
 * <em>kill</em> (abandon). Levels only rise. Safe for concurrent use.
 *
 * <p>A listener runs on the thread that raised the level, or on the registering thread when the
 * level was raised before. It is called with one level at a time, each once and the lower one
 * first: a level raised while it is running is delivered by the thread that it runs on.
 */
public final class Cancellation {
  private static final System.Logger LOG = System.getLogger(Cancellation.class.getName());

  /** The level of cancellation. */
  public enum Level {
    NONE,
    STOP,
    KILL
  }

  /** Removes a listener when closed. Idempotent. */
  public interface Registration extends AutoCloseable {
    @Override
    void close();
  }

  private final Object lock = new Object();
  private final List<Listener> listeners = new ArrayList<>(); // guarded by lock; empty after a kill
  private volatile Level level = Level.NONE; // written under lock
  private @Nullable Registration following; // of a child, with its parent; guarded by lock

  /** One registration, with the levels still to be delivered to it. */
  private final class Listener implements Registration {
    private final Consumer<Level> consumer;
    private final Queue<Level> due = new ArrayDeque<>(2); // guarded by lock
    private boolean running; // guarded by lock

    Listener(Consumer<Level> consumer) {
      this.consumer = consumer;
    }

    void notifyConsumer() {
      for (var next = next(false); next != null; next = next(true)) {
        try {
          consumer.accept(next);
        } catch (RuntimeException | Error e) {
          LOG.log(System.Logger.Level.ERROR, "a listener failed to hear of " + next, e);
        }
      }
    }

    /**
     * Takes the next level for the calling thread to deliver.
     *
     * @param mine whether the calling thread delivered the previous one
     */
    private @Nullable Level next(boolean mine) {
      synchronized (lock) {
        if (running && !mine) {
          return null;
        }
        var next = due.poll();
        running = next != null;
        return next;
      }
    }

    @Override
    public void close() {
      synchronized (lock) {
        listeners.remove(this);
        due.clear();
      }
    }
  }

  public Level level() {
    return level;
  }

  public boolean isCancelled() {
    return level != Level.NONE;
  }

  public void stop() {
    raise(Level.STOP);
  }

  public void kill() {
    raise(Level.KILL);
  }

  private void raise(Level to) {
    List<Listener> notified;
    synchronized (lock) {
      if (level.compareTo(to) >= 0) {
        return;
      }
      level = to;
      notified = List.copyOf(listeners);
      notified.forEach(listener -> listener.due.add(to));
      if (to == Level.KILL) {
        listeners.clear(); // no level follows a kill
      }
    }
    if (to == Level.KILL) {
      detach();
    }
    notified.forEach(Listener::notifyConsumer);
  }

  /**
   * Calls {@code listener} with each level reached from now on, and at once with a level reached
   * before. An exception of a listener is logged and does not affect other listeners.
   */
  public Registration onCancel(Consumer<Level> listener) {
    var added = new Listener(listener);
    synchronized (lock) {
      if (level != Level.KILL) {
        listeners.add(added);
      }
      if (level != Level.NONE) {
        added.due.add(level);
      }
    }
    added.notifyConsumer();
    return added;
  }

  /**
   * Returns a cancellation that follows this one and can be raised on its own without affecting it.
   * This one references it until either is killed or the child is {@linkplain #detach detached}:
   * detach it when its work ends before its parent's.
   */
  public Cancellation child() {
    var child = new Cancellation();
    child.follow(onCancel(child::raise));
    return child;
  }

  private void follow(Registration registration) {
    synchronized (lock) {
      if (level != Level.KILL) {
        following = registration;
        return;
      }
    }
    registration.close();
  }

  /** Stops following the parent. Idempotent; does nothing without a parent. */
  public void detach() {
    Registration left;
    synchronized (lock) {
      left = following;
      following = null;
    }
    if (left != null) {
      left.close();
    }
  }

  /** Returns the number of registered listeners, including children. For tests. */
  int held() {
    synchronized (lock) {
      return listeners.size();
    }
  }
}
