package io.dynamo.router.share;

import io.dynamo.concurrent.ItemStream;
import io.dynamo.error.WorkerBusyException;
import io.dynamo.kv.KvIndexQuery;
import io.dynamo.kv.KvIndexReply;
import io.dynamo.kv.StorageTier;
import io.dynamo.kv.WorkerRank;
import io.dynamo.request.EndpointHandler;
import io.dynamo.request.RequestContext;
import io.dynamo.router.index.TieredIndexer;
import java.util.ArrayList;
import java.util.EnumMap;
import java.util.List;
import java.util.Map;
import java.util.concurrent.ConcurrentHashMap;
import java.util.concurrent.Executor;
import java.util.concurrent.Flow;
import java.util.concurrent.RejectedExecutionException;
import java.util.concurrent.Semaphore;

/**
 * Answers queries for the cached blocks of each rank, each query on a task of its own. Safe for
 * concurrent use; never blocks its caller.
 */
final class IndexEndpoint implements EndpointHandler<KvIndexQuery, KvIndexReply> {
  /** The greatest number of queries that are answered at once. */
  static final int ANSWERING = 1024;

  private final Map<String, TieredIndexer> models = new ConcurrentHashMap<>();
  private final Executor executor;
  private final Semaphore room = new Semaphore(ANSWERING);

  IndexEndpoint(Executor executor) {
    this.executor = executor;
  }

  void put(String model, TieredIndexer index) {
    models.put(model, index);
  }

  /** Removes {@code index} and returns whether it answered for {@code model} until now. */
  boolean remove(String model, TieredIndexer index) {
    return models.remove(model, index);
  }

  boolean isEmpty() {
    return models.isEmpty();
  }

  @Override
  public Flow.Publisher<KvIndexReply> handle(KvIndexQuery query, RequestContext context) {
    var answer = new ItemStream<KvIndexReply>(1, () -> {}, () -> {});
    if (!room.tryAcquire()) {
      throw new WorkerBusyException(
          "%d questions to the index are being answered already".formatted(ANSWERING));
    }
    try {
      executor.execute(() -> answer(query, answer));
    } catch (RejectedExecutionException stopped) {
      room.release();
      throw new WorkerBusyException("the router stops");
    }
    return answer;
  }

  private void answer(KvIndexQuery query, ItemStream<KvIndexReply> to) {
    try {
      if (!to.isCancelled()) {
        var _ = to.offer(reply(query)); // there is room for the one reply
        to.complete();
      }
    } catch (RuntimeException | Error failure) {
      to.fail(failure);
    } finally {
      room.release();
    }
  }

  private KvIndexReply reply(KvIndexQuery query) {
    var index = models.get(query.model());
    if (index == null) {
      return new KvIndexReply.Refused(
          "served indexer model %s is not registered".formatted(query.model()));
    }
    var scores = index.match(query.prompt());
    var device = new ArrayList<KvIndexReply.RankOverlap>(scores.size());
    scores.forEach((rank, blocks) -> device.add(new KvIndexReply.RankOverlap(rank, blocks)));
    var below = new EnumMap<StorageTier, List<KvIndexReply.RankOverlap>>(StorageTier.class);
    if (!Boolean.TRUE.equals(query.deviceOnly())) {
      var ranks = index.holders(scores);
      var host = new int[ranks.size()];
      var disk = new int[ranks.size()];
      index.extend(query.prompt(), scores, ranks, host, disk);
      put(below, StorageTier.HOST_PINNED, ranks, host);
      put(below, StorageTier.DISK, ranks, disk); // farther tiers cost the same
    }
    return new KvIndexReply.Scores(device, below);
  }

  private static void put(
      Map<StorageTier, List<KvIndexReply.RankOverlap>> below,
      StorageTier tier,
      List<WorkerRank> ranks,
      int[] blocks) {
    var held = new ArrayList<KvIndexReply.RankOverlap>();
    for (int i = 0; i < blocks.length; i++) {
      if (blocks[i] > 0) {
        held.add(new KvIndexReply.RankOverlap(ranks.get(i), blocks[i]));
      }
    }
    if (!held.isEmpty()) {
      below.put(tier, held);
    }
  }
}
