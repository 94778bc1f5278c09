package io.dynamo.concurrent;

import java.util.ArrayList;
import java.util.List;
import java.util.function.Consumer;

/**
 * Two levels of giving up: <em>stop</em> (finish early, what is there still counts) and
 * <em>kill</em> (abandon). Levels only rise. Safe for concurrent use; a listener runs on the thread
 * that raised the level, or on the caller's when the level was raised before.
 */
public final class Cancellation {
  /** How far a request has been given up. */
  public enum Level {
    NONE,
    STOP,
    KILL
  }

  /** Takes a listener away again. Idempotent. */
  public interface Registration extends AutoCloseable {
    @Override
    void close();
  }

  private final Object lock = new Object();
  private final List<Consumer<Level>> listeners = new ArrayList<>(); // guarded by lock
  private volatile Level level = Level.NONE; // written under lock

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
    List<Consumer<Level>> told;
    synchronized (lock) {
      if (level.compareTo(to) >= 0) {
        return;
      }
      level = to;
      told = List.copyOf(listeners);
    }
    told.forEach(listener -> listener.accept(to));
  }

  /**
   * Calls {@code listener} with each level reached from now on, and at once when one was reached
   * before.
   */
  public Registration onCancel(Consumer<Level> listener) {
    Level reached;
    synchronized (lock) {
      listeners.add(listener);
      reached = level;
    }
    if (reached != Level.NONE) {
      listener.accept(reached);
    }
    return () -> {
      synchronized (lock) {
        listeners.remove(listener);
      }
    };
  }

  /** A cancellation that follows this one and can be raised on its own without touching it. */
  public Cancellation child() {
    var child = new Cancellation();
    onCancel(child::raise);
    return child;
  }
}
