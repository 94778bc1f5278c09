package io.dynamo.event.zmq;

import static org.openjdk.jcstress.annotations.Expect.ACCEPTABLE;
import static org.openjdk.jcstress.annotations.Expect.FORBIDDEN;

import io.dynamo.concurrent.SerialTasks;
import org.openjdk.jcstress.annotations.Actor;
import org.openjdk.jcstress.annotations.Arbiter;
import org.openjdk.jcstress.annotations.JCStressTest;
import org.openjdk.jcstress.annotations.Outcome;
import org.openjdk.jcstress.annotations.State;
import org.openjdk.jcstress.infra.results.III_Result;

/** Items of one thread against the close of another: each is taken once, in order, and one end. */
@JCStressTest
@Outcome(id = "3, 0, 1", expect = ACCEPTABLE, desc = "each was taken once, in order, and one end")
@Outcome(expect = FORBIDDEN, desc = "an item was lost, doubled or overtaken, or not one end")
@State
public class BatchSendingStress implements BatchSending.Sender<Integer> {
  private final SerialTasks loop = SerialTasks.unbounded("the loop of the test", Runnable::run);
  private final BatchSending<Integer> sending =
      new BatchSending<>(loop::add, loop::add, 1, Integer.MAX_VALUE, this);
  private int taken; // by the loop only, like what follows
  private int wrong;
  private int ends;

  /** Adds items, more than one batch. */
  @Actor
  public void publisher() {
    sending.add(1);
    sending.add(2);
    sending.add(3);
  }

  /** Closes meanwhile. */
  @Actor
  public void closer() {
    sending.close();
  }

  @Override
  public int send(Integer item) {
    wrong += ends == 0 ? 0 : 1;
    take(item);
    return 1;
  }

  @Override
  public void drop(Integer item) {
    wrong += ends == 1 ? 0 : 1;
    take(item);
  }

  private void take(int item) {
    taken++;
    wrong += item == taken ? 0 : 1;
  }

  @Override
  public void flush() {}

  @Override
  public void end() {
    ends++;
  }

  /** Reports the items that were taken, those in a wrong place, and the ends. */
  @Arbiter
  public void result(III_Result r) {
    r.r1 = taken;
    r.r2 = wrong;
    r.r3 = ends;
  }
}
