package io.dynamo.worker.engine;

import io.dynamo.error.WorkerBusyException;
import java.util.Queue;
import java.util.concurrent.ConcurrentLinkedQueue;
import java.util.concurrent.atomic.AtomicInteger;
import org.jspecify.annotations.Nullable;

/**
 * The places of one rank, and the generations that have a place and that its thread has not taken
 * yet. {@link #take}, {@link #free} and {@link #end} are for the rank's thread, the other methods
 * for any thread.
 *
 * <p>Invariant: no more generations than places are in the queue or taken and not freed.
 */
public final class RankQueue<G extends RankQueue.Entry> {
  /** A generation that can be refused before the rank takes it. */
  public interface Entry {
    /** Ends it with {@code why}; the rank has not taken it. */
    void refuse(RuntimeException why);
  }

  private final int rank;
  private final int places;
  private final Runnable wake;
  private final Queue<G> inbox = new ConcurrentLinkedQueue<>(); // bounded by live
  private final AtomicInteger live = new AtomicInteger();
  private volatile boolean ended;

  /**
   * @param wake makes the rank's thread look soon
   */
  public RankQueue(int rank, int places, Runnable wake) {
    this.rank = rank;
    this.places = places;
    this.wake = wake;
  }

  /**
   * Queues a generation. One that comes while the rank ends is refused.
   *
   * @throws WorkerBusyException when all places are taken
   */
  public void submit(G generation) {
    if (live.incrementAndGet() > places) {
      live.decrementAndGet();
      throw new WorkerBusyException(
          "rank %d runs and queues %d generations, its limit; try another worker"
              .formatted(rank, places));
    }
    inbox.add(generation);
    if (ended) { // after the add: either this thread or the ending one finds it
      refuseAll();
    } else {
      wake.run();
    }
  }

  /** Returns the next generation; null when there is none. It keeps its place until it is freed. */
  public @Nullable G take() {
    return inbox.poll();
  }

  /** Frees the place of a generation that was taken. */
  public void free() {
    live.decrementAndGet();
  }

  /** Returns the number of places in use. */
  public int live() {
    return live.get();
  }

  public boolean isEnded() {
    return ended;
  }

  /** Refuses every generation that is not taken, now and from now on. */
  public void end() {
    ended = true;
    refuseAll();
  }

  private void refuseAll() {
    for (var late = inbox.poll(); late != null; late = inbox.poll()) {
      live.decrementAndGet();
      late.refuse(TokenStream.shutDown());
    }
  }
}
