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
 * An index of one's own that follows the workers' events, and perhaps answers other routers. Events
 * come in on threads of the feed. Looking up what devices hold takes no lock. Looking up what lies
 * below the device, which is done only once a worker has reported any of it, takes two locks, which
 * the feed holds while it applies one event. Safe for concurrent use.
 */
final class FollowedPrefixes implements CachedPrefixes {
  private final TieredIndexer index = new TieredIndexer();
  private final EndpointEvents events;
  private final IndexPlane.@Nullable Serving serving; // null where nobody is answered

  /**
   * @param follow brings events into the index
   * @param serve lets it answer others; null does not
   */
  FollowedPrefixes(
      Function<TieredIndexer, EndpointEvents> follow,
      @Nullable Function<TieredIndexer, IndexPlane.Serving> serve) {
    this.events = follow.apply(index);
    this.serving = serve == null ? null : serve.apply(index);
  }

  @Override
  public Found find(BlockHashes prompt) {
    var scores = index.match(prompt);
    return new Found() {
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
