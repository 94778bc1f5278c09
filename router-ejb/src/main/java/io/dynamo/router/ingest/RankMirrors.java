package io.dynamo.router.ingest;

import io.dynamo.kv.HeldTiers;
import io.dynamo.kv.KvEvent;
import io.dynamo.kv.KvReply;
import io.dynamo.kv.RankEvent;
import io.dynamo.kv.Residency;
import io.dynamo.kv.WorkerRank;
import java.time.Duration;
import java.util.ArrayList;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.Set;
import org.jspecify.annotations.Nullable;

/**
 * The blocks of each publisher's rank as its stored events tell them, beside the index: known also
 * for publishers that discovery has not announced yet, and written into snapshots. A publisher
 * whose events have a gap is unknown until its rank is cleared. For one thread at a time.
 */
final class RankMirrors {
  /** The greatest number of publishers; the one silent for longest is dropped for another. */
  static final int MAX_PUBLISHERS = 10_000;

  /** How long a publisher without a source is kept, after its last event or its source's end. */
  static final Duration ABSENCE = Duration.ofMinutes(1);

  /**
   * The blocks of one rank.
   *
   * @param lastId id of the last event that they include
   */
  record State(long publisherId, WorkerRank rank, long lastId, List<RankEvent> blocks) {
    State {
      blocks = List.copyOf(blocks);
    }
  }

  /** The blocks of one rank, as far as its publisher's events have arrived. */
  private static final class Mirror {
    final WorkerRank rank;
    HeldTiers blocks = new HeldTiers();
    boolean whole;
    long lastId;
    long seenNanos;

    Mirror(WorkerRank rank, long nowNanos) {
      this.rank = rank;
      this.whole = true;
      this.seenNanos = nowNanos;
    }

    void apply(RankEvent event) {
      long id = event.event().id();
      if (Long.compareUnsigned(id, lastId) <= 0) {
        return;
      }
      boolean clears =
          event.event() instanceof KvEvent.Cleared && event.residency() == Residency.ALL;
      if (clears) {
        whole = true;
      } else if (id != lastId + 1 || event.residency() != Residency.WORKER) {
        whole = false;
      }
      lastId = id;
      if (whole && !clears) {
        blocks.apply(event.tier(), event.event());
      } else {
        blocks = new HeldTiers();
      }
    }
  }

  private final Map<Long, Mirror> mirrors =
      new LinkedHashMap<>(16, 0.75f, true); // longest silent first

  /** Applies the events of one message; those of a rank that is not the publisher's are ignored. */
  void apply(long publisherId, List<RankEvent> events, long nowNanos) {
    for (var event : events) {
      var mirror = mirrors.computeIfAbsent(publisherId, _ -> new Mirror(event.rank(), nowNanos));
      mirror.seenNanos = nowNanos;
      if (mirror.rank.equals(event.rank())) {
        mirror.apply(event);
      } else {
        mirror.whole = false;
      }
    }
    if (mirrors.size() > MAX_PUBLISHERS) {
      mirrors.remove(mirrors.keySet().iterator().next());
    }
  }

  /** Takes over what a snapshot says. */
  void restore(List<State> states, long nowNanos) {
    mirrors.clear();
    for (var state : states) {
      var mirror = new Mirror(state.rank(), nowNanos);
      state.blocks().forEach(event -> mirror.blocks.apply(event.tier(), event.event()));
      mirror.lastId = state.lastId();
      mirrors.put(state.publisherId(), mirror);
    }
  }

  /** Notes that the publisher was live until now. */
  void touch(long publisherId, long nowNanos) {
    var mirror = mirrors.get(publisherId);
    if (mirror != null) {
      mirror.seenNanos = nowNanos;
    }
  }

  /** Drops publishers that are not among {@code live} and have been absent for long. */
  void expire(Set<Long> live, long nowNanos) {
    mirrors
        .entrySet()
        .removeIf(
            each ->
                !live.contains(each.getKey())
                    && nowNanos - each.getValue().seenNanos >= ABSENCE.toNanos());
  }

  /** Forgets all. */
  void clear() {
    mirrors.clear();
  }

  /** Returns all blocks of the publisher's rank; null when they are not known without loss. */
  KvReply.@Nullable TreeDump dump(long publisherId, WorkerRank rank) {
    var mirror = mirrors.get(publisherId);
    return mirror == null || !mirror.whole || !mirror.rank.equals(rank)
        ? null
        : new KvReply.TreeDump(mirror.blocks.dump(rank), mirror.lastId);
  }

  /** Returns the ranks that are known without loss, and drops all but those of {@code live}. */
  List<State> capture(Set<Long> live) {
    mirrors.keySet().retainAll(live);
    var states = new ArrayList<State>();
    mirrors.forEach(
        (publisher, mirror) -> {
          if (mirror.whole) {
            states.add(
                new State(publisher, mirror.rank, mirror.lastId, mirror.blocks.dump(mirror.rank)));
          }
        });
    return states;
  }
}
