package io.dynamo.frontend;

import java.time.Duration;
import java.util.concurrent.locks.Condition;
import java.util.concurrent.locks.ReentrantLock;

/** Knows whether a thread uses something, and lets none begin once it is shut. */
final class Occupancy {
  private final ReentrantLock lock = new ReentrantLock();
  private final Condition left = lock.newCondition();
  private boolean inside; // guarded by lock
  private boolean shut; // guarded by lock

  /** Begins a use, of one thread at a time; returns false when it is shut. */
  boolean enter() {
    lock.lock();
    try {
      inside = !shut;
      return inside;
    } finally {
      lock.unlock();
    }
  }

  void leave() {
    lock.lock();
    try {
      inside = false;
      left.signalAll();
    } finally {
      lock.unlock();
    }
  }

  /** Returns whether a thread is inside. */
  boolean shut() {
    lock.lock();
    try {
      shut = true;
      return inside;
    } finally {
      lock.unlock();
    }
  }

  /** Waits until nobody is inside; returns false when somebody still is after {@code limit}. */
  boolean awaitLeft(Duration limit) {
    lock.lock();
    try {
      long rest = limit.toNanos();
      while (inside && rest > 0) {
        rest = left.awaitNanos(rest);
      }
      return !inside;
    } catch (InterruptedException e) {
      Thread.currentThread().interrupt();
      return !inside;
    } finally {
      lock.unlock();
    }
  }
}
