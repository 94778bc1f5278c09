package io.dynamo.worker.engine;

import static org.openjdk.jcstress.annotations.Expect.ACCEPTABLE;
import static org.openjdk.jcstress.annotations.Expect.FORBIDDEN;

import java.util.concurrent.atomic.AtomicInteger;
import org.openjdk.jcstress.annotations.Actor;
import org.openjdk.jcstress.annotations.Arbiter;
import org.openjdk.jcstress.annotations.JCStressTest;
import org.openjdk.jcstress.annotations.Outcome;
import org.openjdk.jcstress.annotations.State;
import org.openjdk.jcstress.infra.results.II_Result;

/** Two generations that arrive while their rank takes what is there and ends. */
@JCStressTest
@Outcome(id = "2, 0", expect = ACCEPTABLE, desc = "each was taken or refused, its place is free")
@Outcome(expect = FORBIDDEN, desc = "a generation was lost or ended twice, or holds its place")
@State
public class RankQueueStress {
  private final AtomicInteger ended = new AtomicInteger();
  private final RankQueue<RankQueue.Entry> queue = RankQueue.ofGenerations(0, 2, () -> {});

  private void arrive() {
    queue.submit(_ -> ended.incrementAndGet());
  }

  @Actor
  public void first() {
    arrive();
  }

  @Actor
  public void second() {
    arrive();
  }

  @Actor
  public void rank() {
    for (var next = queue.take(); next != null; next = queue.take()) {
      queue.free();
      ended.incrementAndGet();
    }
    queue.end();
  }

  /** Reports how many generations have ended, and how many places are in use. */
  @Arbiter
  public void result(II_Result r) {
    r.r1 = ended.get();
    r.r2 = queue.live();
  }
}
