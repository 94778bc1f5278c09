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

/** The requests that other routers have placed. For one thread at a time; guarded by the owner. */
final class OtherSequences {
  private record RemoteRequest(
      long publisherId, InstanceId teller, WorkerRank rank, int blocks, Booking booking) {}

  private final int limit;
  private final long blockLimit;
  private final Map<String, RemoteRequest> placed = new HashMap<>(); // by request id
  private long blocks; // sum over all placed requests

  /**
   * Creates an empty account.
   *
   * @param limit the greatest number of requests
   * @param blockLimit prompt blocks that all requests together may have
   */
  OtherSequences(int limit, long blockLimit) {
    this.limit = limit;
    this.blockLimit = blockLimit;
  }

  /**
   * Books a request that another router has placed. If a request of this id is booked already, it
   * has moved to another worker and the event of its end there was lost; the old booking is freed.
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
      removeIf(one -> one.booking.isFreed()); // expired bookings
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

  /** Records that the request's prompt is prefilled; returns whether the request was found. */
  boolean prefilled(PrefillCompleted done) {
    var one = find(done);
    if (one == null) {
      return false;
    }
    one.booking.prefillDone();
    return true;
  }

  /** Frees the request; returns whether it was found. */
  boolean free(SequenceFreed freed) {
    var one = find(freed);
    if (one == null) {
      return false;
    }
    placed.remove(freed.requestId());
    end(one);
    return true;
  }

  /**
   * Returns the request that {@code event} is about; null unless it runs on the event's rank and
   * the event comes from its router or from its worker.
   */
  private @Nullable RemoteRequest find(SequenceEvent event) {
    var one = placed.get(event.requestId());
    boolean meant =
        one != null
            && one.rank.equals(event.rank())
            && (one.teller.equals(event.teller()) || event.isFromWorker());
    return meant ? one : null;
  }

  void freePublisher(long publisherId) {
    removeIf(one -> one.publisherId == publisherId);
  }

  /** Frees the requests on workers that are gone. */
  void keepWorkers(Set<InstanceId> live) {
    removeIf(one -> !live.contains(one.rank.worker()));
  }
}
