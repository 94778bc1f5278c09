package io.dynamo.worker.engine.remote;

import io.dynamo.event.RawStreams;
import io.dynamo.metrics.Metrics.Counter;
import io.dynamo.worker.engine.remote.blocks.EngineBlocks;
import java.util.ArrayList;
import java.util.List;
import java.util.function.IntFunction;

/** Follows KV events that are published over ZeroMQ. */
public final class ZmqKvEvents implements RemoteEvents {
  private static final int FRAMES = 3; // topic, sequence, payload

  private final RawStreams streams;
  private final Counter dropped;

  /**
   * @param dropped counts messages that are dropped
   */
  public ZmqKvEvents(RawStreams streams, Counter dropped) {
    this.streams = streams;
    this.dropped = dropped;
  }

  @Override
  public RemoteEvents.RemoteEventSubscription follow(
      List<KvEventEndpoint> endpoints, IntFunction<EngineBlocks> blocks) {
    var followed = new ArrayList<RawStreams.RawSubscription>();
    var followers = new ArrayList<RankFollower>();
    RemoteEvents.RemoteEventSubscription all =
        () -> {
          followed.forEach(RawStreams.RawSubscription::close);
          followers.forEach(RankFollower::close);
        };
    try {
      for (int rank = 0; rank < endpoints.size(); rank++) {
        var endpoint = endpoints.get(rank);
        var follower = new RankFollower(rank, endpoint, blocks.apply(rank), dropped);
        follower.start();
        followers.add(follower);
        followed.add(
            streams.follow(
                "KV events of rank " + rank, endpoint.events(), FRAMES, dropped, follower));
      }
    } catch (RuntimeException failure) {
      all.close();
      throw failure;
    }
    return all;
  }
}
