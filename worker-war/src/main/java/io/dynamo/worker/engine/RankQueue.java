package io.dynamo.worker.engine;

import io.dynamo.error.WorkerBusyException;
import java.util.Queue;
import java.util.concurrent.ConcurrentLinkedQueue;
import java.util.concurrent.atomic.AtomicInteger;
import org.jspecify.annotations.Nullable;

/**
 * The places of one rank, and the entries (generations, tasks) that have a place and that its
 * thread has not taken yet. {@link #take}, {@link #free} and {@link #end} are for the rank's
 * thread, the other methods for any thread.
 *
 * <p>Invariant: no more entries than places, beside those of {@link #submitAlways}, are in the
 * queue or taken and not freed.
 */
public final class RankQueue<G extends RankQueue.Entry> {
  /** A generation or task that can be refused before the rank takes it. */
  public interface Entry {
    /** Ends it with {@code why}; the rank has not taken it. */
    void refuse(RuntimeException why);
  }

  private final int rank;
  private final String what;
  private final int places;
  private final Runnable wake;
  private final Queue<G> inbox = new ConcurrentLinkedQueue<>(); // bounded by live
  private final AtomicInteger live = new AtomicInteger();
  private volatile boolean ended;

  /**
   * @param what the rank does with so many of which entries, for refusals: {@code "runs and queues
   *     %d generations"}
   * @param wake makes the rank's thread look soon
   */
  public RankQueue(int rank, String what, int places, Runnable wake) {
    this.rank = rank;
    this.what = what;
    this.places = places;
    this.wake = wake;
  }

  /** Makes the queue of a rank's generations. */
  public static <G extends Entry> RankQueue<G> ofGenerations(int rank, int places, Runnable wake) {
    return new RankQueue<>(rank, "runs and queues %d generations", places, wake);
  }

  /**
   * Queues an entry. One that comes while the rank ends is refused.
   *
   * @throws WorkerBusyException when all places are taken
   */
  public void submit(G entry) {
    if (live.incrementAndGet() > places) {
      live.decrementAndGet();
      throw new WorkerBusyException(
          "rank %d %s, its limit; try another worker".formatted(rank, what.formatted(places)));
    }
    add(entry);
  }

  /** Queues an entry even when all places are taken; it is refused only where the rank ends. */
  public void submitAlways(G entry) {
    live.incrementAndGet();
    add(entry);
  }

  private void add(G entry) {
    inbox.add(entry);
    if (ended) { // after the add: either this thread or the ending one finds it
      refuseAll();
    } else {
      wake.run();
    }
  }

  /** Returns the next entry; null when there is none. It keeps its place until it is freed. */
  public @Nullable G take() {
    return inbox.poll();
  }

  /** Frees the place of an entry that was taken. */
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

  /** Refuses every entry that is not taken, now and from now on. */
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
