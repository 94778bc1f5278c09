package io.dynamo.testing;

import io.dynamo.concurrent.Alarms;
import java.time.Duration;
import java.time.Instant;
import java.util.ArrayList;
import java.util.Comparator;
import java.util.List;
import java.util.Optional;

/** Alarms that ring when the test moves their clock, in order of time. Safe for concurrent use. */
public final class ManualAlarms implements Alarms {
  private record Waiting(Instant at, Runnable task) {}

  private final ManualClock clock;
  private final List<Waiting> waiting = new ArrayList<>(); // guarded by this

  public ManualAlarms(ManualClock clock) {
    this.clock = clock;
  }

  @Override
  public synchronized Alarm after(Duration delay, Runnable task) {
    var added = new Waiting(clock.instant().plus(delay), task);
    waiting.add(added);
    return () -> remove(added);
  }

  private synchronized void remove(Waiting one) {
    waiting.remove(one);
  }

  /** Moves the clock, stopping at each alarm on the way to let it ring on this thread. */
  public void advance(Duration by) {
    var until = clock.instant().plus(by);
    for (var next = nextUntil(until); next.isPresent(); next = nextUntil(until)) {
      var due = next.get();
      clock.advance(Duration.between(clock.instant(), due.at()));
      due.task().run();
    }
    clock.advance(Duration.between(clock.instant(), until));
  }

  private synchronized Optional<Waiting> nextUntil(Instant until) {
    var next =
        waiting.stream()
            .filter(one -> !one.at().isAfter(until))
            .min(Comparator.comparing(Waiting::at));
    next.ifPresent(waiting::remove);
    return next;
  }

  /** Alarms that have not rung. */
  public synchronized int waiting() {
    return waiting.size();
  }
}
