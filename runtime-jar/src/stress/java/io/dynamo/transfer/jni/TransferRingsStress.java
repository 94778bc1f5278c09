package io.dynamo.transfer.jni;

import static org.openjdk.jcstress.annotations.Expect.ACCEPTABLE;
import static org.openjdk.jcstress.annotations.Expect.FORBIDDEN;

import io.dynamo.natives.TransferRings;
import java.lang.invoke.MethodHandles;
import java.lang.invoke.VarHandle;
import java.nio.ByteBuffer;
import java.nio.ByteOrder;
import java.util.Queue;
import java.util.concurrent.ConcurrentLinkedQueue;
import org.openjdk.jcstress.annotations.Actor;
import org.openjdk.jcstress.annotations.Arbiter;
import org.openjdk.jcstress.annotations.JCStressTest;
import org.openjdk.jcstress.annotations.Outcome;
import org.openjdk.jcstress.annotations.State;
import org.openjdk.jcstress.infra.results.II_Result;
import org.openjdk.jcstress.infra.results.JJ_Result;

/**
 * Java's side of the rings of transfers against the other side, which is native code and is played
 * here by its rules: acquire what the one side publishes, release what the other does.
 */
public final class TransferRingsStress {
  private static final VarHandle LONG =
      MethodHandles.byteBufferViewVarHandle(long[].class, ByteOrder.nativeOrder());

  // of a ring, as drawn in core/rings.h
  private static final int THEIR_END = 0; // of submissions: how far they are written
  private static final int OUR_END = 64; // of submissions: how far they are read
  private static final int ASLEEP = 128;
  private static final int RECORDS = 256;
  private static final int RECORD_BYTES = 64; // of a batch without ranges
  private static final int SUBMIT_BYTES = 2 * RECORD_BYTES;
  private static final int COMPLETION_BYTES = 32;
  private static final int CAPACITY = 2;
  private static final long[] NO_RANGES = {};

  /** Rings with memory outside the heap are kept for the next state: there are very many states. */
  private static final Queue<TransferRings> FREE = new ConcurrentLinkedQueue<>();

  private TransferRingsStress() {}

  private static TransferRings rings() {
    var free = FREE.poll();
    return free == null ? new TransferRings(SUBMIT_BYTES, CAPACITY) : free;
  }

  /** Gives rings back as if all that was submitted had been read. */
  private static void free(TransferRings rings) {
    var submissions = rings.submissions();
    LONG.setVolatile(submissions, OUR_END, (long) LONG.getVolatile(submissions, THEIR_END));
    LONG.setVolatile(submissions, ASLEEP, 0L);
    FREE.add(rings);
  }

  private static boolean offer(TransferRings rings, long ticket) {
    return rings.offer(ticket, true, ticket, ticket, 1, NO_RANGES);
  }

  private static int at(long position) {
    return RECORDS + (int) (position & (SUBMIT_BYTES - 1));
  }

  /** A batch that the other side finds is whole. */
  @JCStressTest
  @Outcome(id = "0, 0", expect = ACCEPTABLE, desc = "not there yet")
  @Outcome(id = "7, 7", expect = ACCEPTABLE, desc = "found whole")
  @Outcome(expect = FORBIDDEN, desc = "found before all of it was written")
  @State
  public static class OfferedBatch {
    private final TransferRings rings = rings();
    private final ByteBuffer submissions = rings.submissions();
    private final long begin = (long) LONG.getVolatile(submissions, THEIR_END);

    /** Submits a batch. */
    @Actor
    public void java() {
      boolean _ = offer(rings, 7);
    }

    /** Looks for it. */
    @Actor
    public void other(JJ_Result r) {
      if ((long) LONG.getAcquire(submissions, THEIR_END) != begin) {
        r.r1 = submissions.getLong(at(begin));
        r.r2 = submissions.getLong(at(begin) + 24); // its target region
      }
    }

    /** Takes the batch back. */
    @Arbiter
    public void end(JJ_Result r) {
      submissions.putLong(at(begin), 0);
      submissions.putLong(at(begin) + 24, 0);
      free(rings);
    }
  }

  /** A thread that falls asleep either finds the batch or is woken for it. */
  @JCStressTest
  @Outcome(id = "1, 0", expect = ACCEPTABLE, desc = "found before it slept")
  @Outcome(id = "0, 1", expect = ACCEPTABLE, desc = "woken")
  @Outcome(id = "1, 1", expect = ACCEPTABLE, desc = "found, and woken in vain")
  @Outcome(expect = FORBIDDEN, desc = "it sleeps, and nobody wakes it")
  @State
  public static class SleepingThread {
    private final TransferRings rings = rings();
    private final ByteBuffer submissions = rings.submissions();
    private final long begin = (long) LONG.getVolatile(submissions, THEIR_END);

    /** Submits a batch and looks whether the other side must be woken. */
    @Actor
    public void java(II_Result r) {
      boolean _ = offer(rings, 7);
      r.r2 = rings.wantsKick() ? 1 : 0;
    }

    /** Says that it will sleep, and looks for a batch once more. */
    @Actor
    public void other(II_Result r) {
      LONG.setVolatile(submissions, ASLEEP, 1L);
      r.r1 = (long) LONG.getVolatile(submissions, THEIR_END) == begin ? 0 : 1;
    }

    /** Takes the batch back. */
    @Arbiter
    public void end(II_Result r) {
      free(rings);
    }
  }

  /** A batch is written over one that was read, and never over one that was not. */
  @JCStressTest
  @Outcome(id = "1, 0", expect = ACCEPTABLE, desc = "no room yet")
  @Outcome(id = "1, 1", expect = ACCEPTABLE, desc = "written into the room of the first one")
  @Outcome(expect = FORBIDDEN, desc = "the first one was read after it was written over")
  @State
  public static class FullRing {
    private final TransferRings rings = rings();
    private final ByteBuffer submissions = rings.submissions();
    private final long begin = (long) LONG.getVolatile(submissions, THEIR_END);

    /** Fills the ring. */
    public FullRing() {
      if (!offer(rings, 1) || !offer(rings, 2)) {
        throw new AssertionError("an empty ring has room for two batches");
      }
    }

    /** Submits a third batch. */
    @Actor
    public void java(JJ_Result r) {
      r.r2 = offer(rings, 3) ? 1 : 0;
    }

    /** Reads the first one, and gives its room back. */
    @Actor
    public void other(JJ_Result r) {
      r.r1 = submissions.getLong(at(begin));
      LONG.setRelease(submissions, OUR_END, begin + RECORD_BYTES);
    }

    /** Takes the batches back. */
    @Arbiter
    public void end(JJ_Result r) {
      free(rings);
    }
  }

  /** A completion that Java finds is whole, and is found once. */
  @JCStressTest
  @Outcome(id = "9, 9", expect = ACCEPTABLE, desc = "found whole, now or later, and once")
  @Outcome(expect = FORBIDDEN, desc = "found before all of it was written, or twice, or never")
  @State
  public static class CompletedBatch {
    private final TransferRings rings = rings();
    private final ByteBuffer completions = rings.completions();
    private final long begin = (long) LONG.getVolatile(completions, THEIR_END);
    private long tickets;
    private long bytes;

    /** Looks for completions. */
    @Actor
    public void java() {
      take();
    }

    private void take() {
      int _ =
          rings.drain(
              (ticket, _, moved, _) -> {
                tickets += ticket;
                bytes += moved;
              });
    }

    /** Writes one. */
    @Actor
    public void other() {
      int from = RECORDS + ((int) begin & (CAPACITY - 1)) * COMPLETION_BYTES;
      completions.putLong(from, 9);
      completions.putLong(from + 8, 0);
      completions.putLong(from + 16, 9);
      LONG.setRelease(completions, THEIR_END, begin + 1);
    }

    /** Looks once more. */
    @Arbiter
    public void end(JJ_Result r) {
      take();
      r.r1 = tickets;
      r.r2 = bytes;
      free(rings);
    }
  }
}
