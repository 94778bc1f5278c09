package io.dynamo.router.load;

import io.dynamo.discovery.InstanceId;
import io.dynamo.kv.WorkerRank;
import io.dynamo.token.BlockHashes;
import java.time.Duration;
import java.util.HashMap;
import java.util.LinkedHashSet;
import java.util.List;
import java.util.Map;
import java.util.Objects;
import java.util.SequencedSet;
import java.util.Set;
import java.util.function.Function;
import java.util.function.LongSupplier;
import org.jspecify.annotations.Nullable;

/**
 * The requests in flight on the ranks of one endpoint, as placed by this router and by the routers
 * that share their bookings with it. Safe for concurrent use; every call holds one lock for
 * microseconds and waits for nothing else.
 */
public final class ActiveSequences {
  /** Chooses among candidates; called under the lock, so it must be short and must not block. */
  @FunctionalInterface
  public interface Chooser {
    Choice choose(RankLoads loads);
  }

  /** Chooses among candidates, or none; as short as a {@link Chooser}. */
  @FunctionalInterface
  public interface OptionalChooser<C extends Choice> {
    /** Returns the choice; null books nothing. */
    @Nullable C choose(RankLoads loads);
  }

  /** A chosen candidate. */
  public interface Choice {
    /** Returns the candidate's index. */
    int candidate();

    /** Returns the number of prompt tokens that the candidate is believed not to have cached. */
    long tokensToPrefill();
  }

  /** A choice without further data. */
  public record RankChoice(int candidate, long tokensToPrefill) implements Choice {}

  /** A choice with its booking. */
  public record BookedChoice<C extends Choice>(C choice, Booking booking) {}

  private final Duration expiry;
  private final LongSupplier nanoClock;
  private final Object lock = new Object();
  private final Map<WorkerRank, RankBookings> loads = new HashMap<>(); // guarded by lock
  private final SequencedSet<Booking> bookings = new LinkedHashSet<>(); // oldest first; by lock
  private volatile Runnable onRelief = () -> {};

  /**
   * Creates an empty account.
   *
   * @param expiry the age at which an unreleased booking is dropped, when the next one is made
   */
  public ActiveSequences(Duration expiry, LongSupplier nanoClock) {
    this.expiry = expiry;
    this.nanoClock = nanoClock;
  }

  /**
   * Sets {@code listener} to be called, without a lock, each time that a rank has less to prefill.
   */
  public void onRelief(Runnable listener) {
    onRelief = listener;
  }

  /** Lets {@code chooser} choose by the present load and books its choice under the same lock. */
  public Booking book(List<WorkerRank> candidates, BlockHashes prompt, Chooser chooser) {
    return Objects.requireNonNull(this.<Choice>book(candidates, Work.of(prompt), chooser::choose))
        .booking();
  }

  /**
   * Lets {@code chooser} choose by the present load and books its choice under the same lock.
   *
   * @return null when {@code chooser} chose nothing
   */
  public <C extends Choice> @Nullable BookedChoice<C> book(
      List<WorkerRank> candidates, Work work, OptionalChooser<C> chooser) {
    synchronized (lock) {
      long now = nanoClock.getAsLong();
      dropExpired(now);
      var choice = chooser.choose(loadsFor(candidates, work.prompt()));
      if (choice == null) {
        return null;
      }
      var load = loads.computeIfAbsent(candidates.get(choice.candidate()), RankBookings::new);
      load.add(work.prompt(), choice.tokensToPrefill());
      var booking =
          new Booking(this, load, choice.candidate(), work, choice.tokensToPrefill(), now);
      bookings.add(booking);
      return new BookedChoice<>(choice, booking);
    }
  }

  /**
   * Lets {@code reader} look at the present load of {@code candidates} without booking anything.
   */
  public <T> T look(
      List<WorkerRank> candidates, BlockHashes prompt, Function<RankLoads, T> reader) {
    synchronized (lock) {
      dropExpired(nanoClock.getAsLong());
      return reader.apply(loadsFor(candidates, prompt));
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

  /** Returns the prompt tokens booked on {@code rank} by requests that have no first token yet. */
  public long prefillTokens(WorkerRank rank) {
    synchronized (lock) {
      var load = loads.get(rank);
      return load == null ? 0 : load.prefillTokens();
    }
  }

  /** Returns the number of blocks active on {@code rank}. */
  public int blocks(WorkerRank rank) {
    synchronized (lock) {
      var load = loads.get(rank);
      return load == null ? 0 : load.blocks();
    }
  }

  /** Returns the number of requests that are booked and not released. */
  public int active() {
    synchronized (lock) {
      return bookings.size();
    }
  }

  /**
   * Releases the bookings on all workers but {@code workers}, even those whose requests still hold
   * them.
   */
  public void keep(Set<InstanceId> workers) {
    synchronized (lock) {
      bookings.removeIf(
          booking -> !workers.contains(booking.load.rank.worker()) && booking.release());
      loads.keySet().removeIf(rank -> !workers.contains(rank.worker()));
    }
    onRelief.run();
  }

  void prefillDone(Booking booking) {
    boolean relief;
    synchronized (lock) {
      relief = booking.releasePrefill();
    }
    if (relief) {
      onRelief.run();
    }
  }

  void generated(Booking booking, int tokens) {
    synchronized (lock) {
      booking.grow(tokens);
    }
  }

  void free(Booking booking) {
    synchronized (lock) {
      if (!booking.release()) {
        return;
      }
      bookings.remove(booking);
      dropIdle(booking.load);
    }
    onRelief.run();
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

  /**
   * Removes the account of a rank without requests, as the ranks that come and go are unbounded.
   */
  private void dropIdle(RankBookings load) {
    if (load.requests() == 0) {
      loads.remove(load.rank, load);
    }
  }
}
