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
import org.jspecify.annotations.Nullable;

/** The requests that other routers have placed. One thread at a time; the owner guards it. */
final class OtherSequences {
  private record Placed(long publisherId, InstanceId teller, WorkerRank rank, Booking booking) {}

  private final int limit;
  private final Map<String, Placed> placed = new HashMap<>(); // by request

  OtherSequences(int limit) {
    this.limit = limit;
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
      before.booking.close();
    }
    if (placed.size() >= limit) {
      placed.values().removeIf(one -> one.booking.isFreed()); // those that expired
      if (placed.size() >= limit) {
        return false;
      }
    }
    var choice = new ActiveSequences.Choice(0, added.tokensToPrefill());
    var booking = load.book(List.of(added.rank()), added.prompt(), _ -> choice);
    placed.put(added.requestId(), new Placed(publisherId, added.teller(), added.rank(), booking));
    return true;
  }

  void prefilled(PrefillCompleted done) {
    var one = find(done);
    if (one != null) {
      one.booking.prefillDone();
    }
  }

  void free(SequenceFreed freed) {
    var one = find(freed);
    if (one != null) {
      placed.remove(freed.requestId());
      one.booking.close();
    }
  }

  /** The request that {@code event} is about, if it runs there and its teller may speak of it. */
  private @Nullable Placed find(SequenceEvent event) {
    var one = placed.get(event.requestId());
    boolean meant =
        one != null
            && one.rank.equals(event.rank())
            && (one.teller.equals(event.teller()) || event.isToldByWorker());
    return meant ? one : null;
  }

  void freePublisher(long publisherId) {
    placed
        .values()
        .removeIf(
            one -> {
              boolean gone = one.publisherId == publisherId;
              if (gone) {
                one.booking.close();
              }
              return gone;
            });
  }

  /** Frees what runs on workers that are gone. */
  void keepWorkers(Set<InstanceId> live) {
    placed
        .values()
        .removeIf(
            one -> {
              boolean gone = !live.contains(one.rank.worker());
              if (gone) {
                one.booking.close();
              }
              return gone;
            });
  }
}
