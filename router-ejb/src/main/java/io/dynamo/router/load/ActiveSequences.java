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
import java.util.function.LongSupplier;
import org.jspecify.annotations.Nullable;

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

  /** Chooses among candidates, or none; as short as a {@link Chooser}. */
  @FunctionalInterface
  public interface OptionalChooser<C extends Choice> {
    /** Null books nothing. */
    @Nullable C choose(RankLoads loads);
  }

  /** A chosen candidate. */
  public interface Choice {
    /** The candidate's index. */
    int candidate();

    /** Prompt tokens that the candidate is believed not to have cached. */
    long tokensToPrefill();
  }

  /** A choice and nothing else. */
  public record RankChoice(int candidate, long tokensToPrefill) implements Choice {}

  /** A choice with its booking. */
  public record Booked<C extends Choice>(C choice, Booking booking) {}

  private final Duration expiry;
  private final LongSupplier nanoClock;
  private final Object lock = new Object();
  private final Map<WorkerRank, RankBookings> loads = new HashMap<>(); // guarded by lock
  private final SequencedSet<Booking> bookings = new LinkedHashSet<>(); // oldest first; by lock
  private volatile Runnable onRelief = () -> {};

  /**
   * @param expiry after which a booking that nobody gave back is dropped, when the next one is made
   */
  public ActiveSequences(Duration expiry, LongSupplier nanoClock) {
    this.expiry = expiry;
    this.nanoClock = nanoClock;
  }

  /** Calls {@code listener}, without a lock, each time that a rank has less to prefill. */
  public void onRelief(Runnable listener) {
    onRelief = listener;
  }

  /**
   * Lets {@code chooser} choose by the present load and books its choice before anybody else looks.
   */
  public Booking book(List<WorkerRank> candidates, BlockHashes prompt, Chooser chooser) {
    return Objects.requireNonNull(this.<Choice>book(candidates, Work.of(prompt), chooser::choose))
        .booking();
  }

  /**
   * Lets {@code chooser} choose by the present load and books its choice before anybody else looks.
   *
   * @return null when it chose nothing
   */
  public <C extends Choice> @Nullable Booked<C> book(
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
      return new Booked<>(choice, booking);
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

  /** Prompt tokens booked on {@code rank} whose first output is not out. */
  public long prefillTokens(WorkerRank rank) {
    synchronized (lock) {
      var load = loads.get(rank);
      return load == null ? 0 : load.prefillTokens();
    }
  }

  /** Blocks active on {@code rank}. */
  public int blocks(WorkerRank rank) {
    synchronized (lock) {
      var load = loads.get(rank);
      return load == null ? 0 : load.blocks();
    }
  }

  /** Requests booked and not given back. */
  public int active() {
    synchronized (lock) {
      return bookings.size();
    }
  }

  /** Gives back what is booked on all other workers: theirs is lost, whoever still holds it. */
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

  /** Ranks come and go for ever; those with nothing in hand need no account. */
  private void dropIdle(RankBookings load) {
    if (load.requests() == 0) {
      loads.remove(load.rank, load);
    }
  }
}
