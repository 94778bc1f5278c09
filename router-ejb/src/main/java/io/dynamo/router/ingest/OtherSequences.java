package io.dynamo.router.ingest;

import io.dynamo.discovery.InstanceId;
import io.dynamo.kv.PrefillCompleted;
import io.dynamo.kv.SequenceAdded;
import io.dynamo.kv.SequenceEvent;
import io.dynamo.kv.SequenceFreed;
import io.dynamo.kv.WorkerRank;
import io.dynamo.router.load.ActiveSequences;
import io.dynamo.router.load.Booking;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.Set;
import java.util.function.Predicate;
import org.jspecify.annotations.Nullable;

/** The requests that other routers have placed. One thread at a time; the owner guards it. */
final class OtherSequences {
  private record RemoteRequest(
      long publisherId, InstanceId teller, WorkerRank rank, int blocks, Booking booking) {}

  private final int limit;
  private final long blockLimit;
  private final Map<String, RemoteRequest> placed = new HashMap<>(); // by request
  private long blocks; // of all that are placed

  /**
   * @param blockLimit prompt blocks that all requests together may have
   */
  OtherSequences(int limit, long blockLimit) {
    this.limit = limit;
    this.blockLimit = blockLimit;
  }

  /**
   * Books what another router has placed. A request that is there already has moved to another
   * worker, and the news of its end there was lost.
   *
   * @return whether there was room for it
   */
  boolean add(long publisherId, SequenceAdded added, ActiveSequences load) {
    var before = placed.remove(added.requestId());
    if (before != null) {
      end(before);
    }
    int more = added.prompt().length();
    if (isFull(more)) {
      removeIf(one -> one.booking.isFreed()); // those that expired
      if (isFull(more)) {
        return false;
      }
    }
    var choice = new ActiveSequences.RankChoice(0, added.tokensToPrefill());
    var booking = load.book(List.of(added.rank()), added.prompt(), _ -> choice);
    placed.put(
        added.requestId(),
        new RemoteRequest(publisherId, added.teller(), added.rank(), more, booking));
    blocks += more;
    return true;
  }

  private boolean isFull(int more) {
    return placed.size() >= limit || blocks + more > blockLimit;
  }

  private void end(RemoteRequest one) {
    one.booking.close();
    blocks -= one.blocks;
  }

  private void removeIf(Predicate<RemoteRequest> gone) {
    placed
        .values()
        .removeIf(
            one -> {
              boolean ends = gone.test(one);
              if (ends) {
                end(one);
              }
              return ends;
            });
  }

  /** Returns whether it is known. */
  boolean prefilled(PrefillCompleted done) {
    var one = find(done);
    if (one == null) {
      return false;
    }
    one.booking.prefillDone();
    return true;
  }

  /** Returns whether it was known. */
  boolean free(SequenceFreed freed) {
    var one = find(freed);
    if (one == null) {
      return false;
    }
    placed.remove(freed.requestId());
    end(one);
    return true;
  }

  /** The request that {@code event} is about, if it runs there and its teller may speak of it. */
  private @Nullable RemoteRequest find(SequenceEvent event) {
    var one = placed.get(event.requestId());
    boolean meant =
        one != null
            && one.rank.equals(event.rank())
            && (one.teller.equals(event.teller()) || event.isToldByWorker());
    return meant ? one : null;
  }

  void freePublisher(long publisherId) {
    removeIf(one -> one.publisherId == publisherId);
  }

  /** Frees what runs on workers that are gone. */
  void keepWorkers(Set<InstanceId> live) {
    removeIf(one -> !live.contains(one.rank.worker()));
  }
}
