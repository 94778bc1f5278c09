package io.dynamo.concurrent;

import static org.openjdk.jcstress.annotations.Expect.ACCEPTABLE;
import static org.openjdk.jcstress.annotations.Expect.FORBIDDEN;

import java.util.concurrent.RejectedExecutionException;
import org.openjdk.jcstress.annotations.Actor;
import org.openjdk.jcstress.annotations.Arbiter;
import org.openjdk.jcstress.annotations.JCStressTest;
import org.openjdk.jcstress.annotations.Outcome;
import org.openjdk.jcstress.annotations.State;
import org.openjdk.jcstress.infra.results.II_Result;

/** Tasks and requests of two threads: none is lost, run twice, or blind to the one before it. */
public final class SerialTasksStress {
  private SerialTasksStress() {}

  /** Both threads add; each is the executor's thread while it is the first. */
  @JCStressTest
  @Outcome(id = "4, 0", expect = ACCEPTABLE, desc = "each ran once, in order, after the one before")
  @Outcome(expect = FORBIDDEN, desc = "a task was lost, overlapped another or overtook one")
  @State
  public static class TwoThreadsAdd {
    private final SerialTasks tasks = SerialTasks.unbounded("the test", Runnable::run);
    private int ran; // by tasks only, like what follows
    private int lastOfFirst;
    private int lastOfSecond;
    private int overtaken;

    /** Adds two tasks. */
    @Actor
    public void first() {
      tasks.add(() -> runFirst(1));
      tasks.add(() -> runFirst(2));
    }

    /** Adds two more. */
    @Actor
    public void second() {
      tasks.add(() -> runSecond(1));
      tasks.add(() -> runSecond(2));
    }

    private void runFirst(int number) {
      ran++;
      overtaken += lastOfFirst == number - 1 ? 0 : 1;
      lastOfFirst = number;
    }

    private void runSecond(int number) {
      ran++;
      overtaken += lastOfSecond == number - 1 ? 0 : 1;
      lastOfSecond = number;
    }

    /** Reports how many tasks ran, and how many ran out of order. */
    @Arbiter
    public void result(II_Result r) {
      r.r1 = ran;
      r.r2 = overtaken;
    }
  }

  /** The executor rejects both threads' work, then accepts the work of a third. */
  @JCStressTest
  @Outcome(id = "1, 2", expect = ACCEPTABLE, desc = "rejected tasks are gone, and so is their hold")
  @Outcome(expect = FORBIDDEN, desc = "a rejected task ran, or kept its place")
  @State
  public static class RejectedOffers {
    private volatile boolean accepts;
    private final SerialTasks tasks = SerialTasks.bounded("the test", this::execute, 2);
    private int ran;

    private void execute(Runnable work) {
      if (!accepts) {
        throw new RejectedExecutionException("rejected by the test");
      }
      work.run();
    }

    private void run() {
      ran++;
    }

    /** Offers a task. */
    @Actor
    public void first() {
      tasks.offer(this::run);
    }

    /** Offers another. */
    @Actor
    public void second() {
      tasks.offer(this::run);
    }

    /** Runs a task after the rejections; in it, counts the places that are free. */
    @Arbiter
    public void result(II_Result r) {
      accepts = true;
      tasks.add(
          () -> {
            run();
            r.r1 = ran;
            r.r2 = 0;
            while (r.r2 < 3 && tasks.offer(() -> {})) {
              r.r2++;
            }
          });
    }
  }

  /** Each thread writes, then requests a run: the last run sees what both have written. */
  @JCStressTest
  @Outcome(id = "1, 1", expect = ACCEPTABLE, desc = "the last run saw both")
  @Outcome(expect = FORBIDDEN, desc = "a request was lost, or its writes were not seen")
  @State
  public static class TwoThreadsRequest {
    private int writtenByFirst;
    private int writtenBySecond;
    private int seenOfFirst; // by the task only, like the next
    private int seenOfSecond;
    private final CoalescedTask task =
        new CoalescedTask("the test", Runnable::run, this::run, () -> {});

    private void run() {
      seenOfFirst = writtenByFirst;
      seenOfSecond = writtenBySecond;
    }

    /** Requests a run. */
    @Actor
    public void first() {
      writtenByFirst = 1;
      task.request();
    }

    /** Requests another. */
    @Actor
    public void second() {
      writtenBySecond = 1;
      task.request();
    }

    /** Reports what the last run has seen of both requests. */
    @Arbiter
    public void result(II_Result r) {
      r.r1 = seenOfFirst;
      r.r2 = seenOfSecond;
    }
  }
}
