package io.dynamo.worker;

import io.dynamo.concurrent.Alarms;
import java.time.Duration;
import java.util.ArrayList;
import java.util.Comparator;
import java.util.List;

/**
 * A clock and its alarms, which ring on the test's thread when the test moves it. For one thread.
 */
public final class HandAlarms implements Alarms {
  private record Waiting(long atNanos, Runnable task) {}

  private final List<Waiting> waiting = new ArrayList<>();
  private long nanos;

  @Override
  public Alarm after(Duration delay, Runnable task) {
    var added = new Waiting(nanos + delay.toNanos(), task);
    waiting.add(added);
    return () -> waiting.remove(added);
  }

  public long nanos() {
    return nanos;
  }

  public int waiting() {
    return waiting.size();
  }

  public void advance(Duration by) {
    long until = nanos + by.toNanos();
    while (true) {
      var next =
          waiting.stream()
              .filter(one -> one.atNanos() <= until)
              .min(Comparator.comparingLong(Waiting::atNanos));
      if (next.isEmpty()) {
        break;
      }
      var due = next.get();
      waiting.remove(due);
      nanos = due.atNanos();
      due.task().run();
    }
    nanos = until;
  }
}
