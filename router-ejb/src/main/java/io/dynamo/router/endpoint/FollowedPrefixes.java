package io.dynamo.router.endpoint;

import io.dynamo.kv.WorkerRank;
import io.dynamo.router.index.CachedPrefixes;
import io.dynamo.router.index.TieredIndexer;
import io.dynamo.router.ingest.EndpointEvents;
import io.dynamo.router.share.IndexPlane;
import io.dynamo.token.BlockHashes;
import java.util.List;
import java.util.function.Function;
import org.jspecify.annotations.Nullable;

/**
 * The router's own index, which follows the workers' events and may answer other routers. Events
 * arrive on threads of the feed; requests look blocks up in all tiers without a lock. Safe for
 * concurrent use.
 */
final class FollowedPrefixes implements CachedPrefixes {
  private final TieredIndexer index = new TieredIndexer();
  private final EndpointEvents events;
  private final IndexPlane.@Nullable Serving serving; // null where other routers are not answered

  /**
   * Creates an index and starts to follow the workers' events.
   *
   * @param follow starts to apply events to the index
   * @param serve starts to answer other routers from the index; null does not
   */
  FollowedPrefixes(
      Function<TieredIndexer, EndpointEvents> follow,
      @Nullable Function<TieredIndexer, IndexPlane.Serving> serve) {
    this.events = follow.apply(index);
    this.serving = serve == null ? null : serve.apply(index);
  }

  @Override
  public PrefixMatches find(BlockHashes prompt) {
    var scores = index.match(prompt);
    return new PrefixMatches() {
      @Override
      public int onDevice(WorkerRank rank) {
        return scores.blocks(rank);
      }

      @Override
      public void extend(List<WorkerRank> ranks, int[] host, int[] disk) {
        index.extend(prompt, scores, ranks, host, disk);
      }
    };
  }

  @Override
  public int size() {
    return index.size();
  }

  @Override
  public void close() {
    if (serving != null) {
      serving.close();
    }
    events.close();
  }
}
