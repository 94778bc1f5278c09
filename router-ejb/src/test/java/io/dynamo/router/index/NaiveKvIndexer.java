package io.dynamo.router.index;

import io.dynamo.discovery.InstanceId;
import io.dynamo.kv.KvEvent;
import io.dynamo.kv.WorkerRank;
import io.dynamo.token.BlockHashes;
import java.util.ArrayList;
import java.util.HashMap;
import java.util.HashSet;
import java.util.List;
import java.util.Map;
import java.util.Set;

/** A reference index in the simplest form. For one thread. */
final class NaiveKvIndexer implements KvIndexer {
  private static final class Holdings {
    final Set<List<Long>> prefixes = new HashSet<>(); // block contents from the start
    final Map<Long, List<Long>> byName = new HashMap<>();
  }

  private final Map<WorkerRank, Holdings> ranks = new HashMap<>();

  @Override
  public OverlapScores match(BlockHashes request) {
    var scores = new OverlapScores.Builder(ranks.size());
    ranks.forEach(
        (rank, holdings) -> {
          var prefix = new ArrayList<Long>();
          for (int i = 0; i < request.length(); i++) {
            prefix.add(request.block(i));
            if (!holdings.prefixes.contains(prefix)) {
              scores.add(rank, i);
              return;
            }
          }
          scores.add(rank, request.length());
        });
    return scores.build();
  }

  @Override
  public Outcome apply(WorkerRank rank, KvEvent event) {
    return switch (event) {
      case KvEvent.Stored stored -> store(rank, stored);
      case KvEvent.Removed removed -> remove(rank, removed);
      case KvEvent.Cleared _ -> {
        ranks.remove(rank);
        yield Outcome.OK;
      }
    };
  }

  private Outcome store(WorkerRank rank, KvEvent.Stored stored) {
    var holdings = ranks.getOrDefault(rank, new Holdings());
    List<Long> prefix = List.of();
    if (stored.parent() != null) {
      prefix = holdings.byName.get(stored.parent().value());
      if (prefix == null || !holdings.prefixes.contains(prefix)) {
        return Outcome.PARENT_NOT_FOUND;
      }
    }
    for (var block : stored.blocks()) {
      var longer = new ArrayList<>(prefix);
      longer.add(block.content().value());
      holdings.prefixes.add(longer);
      holdings.byName.put(block.hash().value(), longer);
      prefix = longer;
    }
    ranks.put(rank, holdings);
    return Outcome.OK;
  }

  private Outcome remove(WorkerRank rank, KvEvent.Removed removed) {
    var holdings = ranks.getOrDefault(rank, new Holdings());
    var outcome = Outcome.OK;
    for (var name : removed.blocks()) {
      var prefix = holdings.byName.remove(name.value());
      if (prefix == null || !holdings.prefixes.contains(prefix)) {
        outcome = Outcome.BLOCK_NOT_FOUND;
      } else {
        holdings.prefixes.removeIf(
            it -> it.size() >= prefix.size() && it.subList(0, prefix.size()).equals(prefix));
      }
    }
    return outcome;
  }

  @Override
  public void forget(InstanceId worker) {
    ranks.keySet().removeIf(rank -> rank.worker().equals(worker));
  }
}
