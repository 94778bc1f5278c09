package io.dynamo.worker.engine;

import java.time.Duration;
import java.util.ArrayList;
import java.util.List;

/** A pacer whose time stands still until a test moves it; everything runs on the test's thread. */
public final class ManualPacer implements Pacer {
  private final class Work implements Driven {
    final Paced paced;
    long due = now;
    boolean ended;

    Work(Paced paced) {
      this.paced = paced;
    }

    @Override
    public void wake() {
      due = now;
    }

    @Override
    public void close() {
      if (!ended) {
        ended = true;
        paced.end();
      }
    }
  }

  private final List<Work> all = new ArrayList<>();
  private long now = System.nanoTime(); // deadlines are made from the same clock
  private int ticks;

  @Override
  public Driven drive(String name, Paced work) {
    var driven = new Work(work);
    all.add(driven);
    return driven;
  }

  /** Returns the current time, in terms of {@link System#nanoTime()}. */
  public long nanos() {
    return now;
  }

  public int ticks() {
    return ticks;
  }

  /** Runs everything that is due until {@code time} from now, each at its time. */
  public void advance(Duration time) {
    advance(now + time.toNanos(), Integer.MAX_VALUE);
  }

  /** Runs what is due now, at most {@code count} ticks. */
  public void advanceTicks(int count) {
    advance(now, count);
  }

  private void advance(long until, int most) {
    for (int done = 0; done < most; done++) {
      Work next = null;
      for (var work : all) {
        if (!work.ended && (next == null || work.due < next.due)) {
          next = work;
        }
      }
      if (next == null || next.due > until) {
        now = until;
        return;
      }
      now = Math.max(now, next.due);
      next.due = Long.MAX_VALUE; // a wake during the tick requests another
      long wait = next.paced.tick(now);
      ticks++;
      if (wait != Paced.IDLE) {
        next.due = Math.min(next.due, now + wait);
      }
    }
  }

  /** Runs what is due now. */
  public void settle() {
    advance(Duration.ZERO);
  }
}
