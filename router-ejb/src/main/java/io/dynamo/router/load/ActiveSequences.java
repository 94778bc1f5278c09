package io.dynamo.router.load;

import io.dynamo.kv.WorkerRank;
import io.dynamo.token.BlockHashes;
import java.time.Duration;
import java.util.HashMap;
import java.util.LinkedHashSet;
import java.util.List;
import java.util.Map;
import java.util.SequencedSet;
import java.util.function.LongSupplier;

/**
 * The requests in flight on the ranks of one endpoint, as this router and those that tell it have
 * placed them. Safe for concurrent use; every call holds one lock for microseconds and waits for
 * nothing else.
 */
public final class ActiveSequences {
  /** Chooses among candidates; called under the lock, so it must be short and must not block. */
  @FunctionalInterface
  public interface Chooser {
    Choice choose(RankLoads loads);
  }

  /**
   * Which candidate it is.
   *
   * @param tokensToPrefill prompt tokens that the candidate is believed not to have cached
   */
  public record Choice(int candidate, long tokensToPrefill) {}

  private final Duration expiry;
  private final LongSupplier nanoClock;
  private final Object lock = new Object();
  private final Map<WorkerRank, RankLoad> loads = new HashMap<>(); // guarded by lock
  private final SequencedSet<Booking> bookings = new LinkedHashSet<>(); // oldest first; by lock

  /**
   * @param expiry after which a booking that nobody gave back is dropped, when the next one is made
   */
  public ActiveSequences(Duration expiry, LongSupplier nanoClock) {
    this.expiry = expiry;
    this.nanoClock = nanoClock;
  }

  /**
   * Lets {@code chooser} choose by the present load and books its choice before anybody else looks.
   */
  public Booking book(List<WorkerRank> candidates, BlockHashes prompt, Chooser chooser) {
    synchronized (lock) {
      long now = nanoClock.getAsLong();
      dropExpired(now);
      var choice = chooser.choose(loadsFor(candidates, prompt));
      var load = loads.computeIfAbsent(candidates.get(choice.candidate()), RankLoad::new);
      load.add(prompt, choice.tokensToPrefill());
      var booking =
          new Booking(this, load, choice.candidate(), prompt, choice.tokensToPrefill(), now);
      bookings.add(booking);
      return booking;
    }
  }

  private RankLoads loadsFor(List<WorkerRank> candidates, BlockHashes prompt) {
    int n = candidates.size();
    var all = new RankLoads(new long[n], new int[n], new int[n], new int[n]);
    for (int i = 0; i < n; i++) {
      var load = loads.get(candidates.get(i));
      if (load == null) {
        all.addedBlocks()[i] = prompt.length();
      } else {
        all.prefillTokens()[i] = load.prefillTokens();
        all.blocks()[i] = load.blocks();
        all.addedBlocks()[i] = prompt.length() - load.shared(prompt);
        all.requests()[i] = load.requests();
      }
    }
    return all;
  }

  /** Requests booked and not given back. */
  public int active() {
    synchronized (lock) {
      return bookings.size();
    }
  }

  void prefillDone(Booking booking) {
    synchronized (lock) {
      booking.releasePrefill();
    }
  }

  void free(Booking booking) {
    synchronized (lock) {
      if (booking.release()) {
        bookings.remove(booking);
        dropIdle(booking.load);
      }
    }
  }

  boolean isFreed(Booking booking) {
    synchronized (lock) {
      return booking.freed();
    }
  }

  private void dropExpired(long now) {
    while (!bookings.isEmpty() && now - bookings.getFirst().bookedAtNanos >= expiry.toNanos()) {
      var oldest = bookings.removeFirst();
      oldest.release();
      dropIdle(oldest.load);
    }
  }

  /** Ranks come and go for ever; those with nothing in hand need no account. */
  private void dropIdle(RankLoad load) {
    if (load.requests() == 0) {
      loads.remove(load.rank);
    }
  }
}
