package io.dynamo.worker.kv;

import io.dynamo.discovery.EndpointId;
import io.dynamo.discovery.InstanceId;
import io.dynamo.event.EventPlane;
import io.dynamo.event.EventSubject;
import io.dynamo.kv.KvEvent;
import io.dynamo.kv.KvEventSource;
import io.dynamo.kv.RankEvent;
import io.dynamo.kv.StorageTier;
import io.dynamo.kv.StoredBlock;
import io.dynamo.kv.WorkerRank;
import io.dynamo.metrics.Metrics.Counter;
import io.dynamo.token.SequenceHash;
import io.dynamo.worker.engine.KvEventSink;
import io.dynamo.worker.engine.LowerTierSink;
import java.util.ArrayList;
import java.util.List;
import java.util.concurrent.Executor;
import java.util.function.Function;
import org.jspecify.annotations.Nullable;

/**
 * Gives KV events their ids and publishes them, one publisher per rank, in batches of the events
 * that have accumulated. Events that cannot be sent in time leave a gap in the ids on the plane;
 * the rank's log misses none, and {@link KvSources} answers from it. Each rank is called by one
 * thread at a time.
 */
public final class KvEventPublisher implements KvEventSink, LowerTierSink, AutoCloseable {
  private final List<RankPublisher> ranks;

  /**
   * @param encoder turns a batch into the payload of one message
   * @param executor encodes and sends; may run tasks of several ranks at once
   * @param dropped counts events that were not published
   * @param maxReplyBlocks the most blocks that one answer about lost events may contain
   */
  public KvEventPublisher(
      EventPlane plane,
      EndpointId endpoint,
      InstanceId worker,
      int ranks,
      Function<List<RankEvent>, byte[]> encoder,
      Executor executor,
      Counter dropped,
      int maxReplyBlocks) {
    var subject = new EventSubject(endpoint, KvEventSource.TOPIC);
    var made = new ArrayList<RankPublisher>();
    try {
      for (int i = 0; i < ranks; i++) {
        var rank = new WorkerRank(worker, i);
        made.add(
            new RankPublisher(
                rank,
                plane.publisher(subject),
                encoder,
                executor,
                dropped,
                new RankLog(rank, maxReplyBlocks)));
      }
    } catch (RuntimeException failure) {
      made.forEach(RankPublisher::close); // not reachable from elsewhere
      throw failure;
    }
    this.ranks = List.copyOf(made);
  }

  @Override
  public void stored(int rank, @Nullable SequenceHash parent, List<StoredBlock> blocks) {
    stored(rank, StorageTier.DEVICE, parent, blocks);
  }

  @Override
  public void stored(
      int rank, StorageTier tier, @Nullable SequenceHash parent, List<StoredBlock> blocks) {
    ranks.get(rank).add(tier, new KvEvent.Stored(0, parent, blocks));
  }

  @Override
  public void removed(int rank, List<SequenceHash> blocks) {
    removed(rank, StorageTier.DEVICE, blocks);
  }

  @Override
  public void removed(int rank, StorageTier tier, List<SequenceHash> blocks) {
    ranks.get(rank).add(tier, new KvEvent.Removed(0, blocks));
  }

  @Override
  public void cleared(int rank) {
    ranks.get(rank).add(StorageTier.DEVICE, new KvEvent.Cleared(0));
  }

  /** Returns one publisher per rank, in the order of their numbers. */
  List<RankPublisher> ranks() {
    return ranks;
  }

  /** Stops publishing; later events are not sent. Idempotent. */
  @Override
  public void close() {
    ranks.forEach(RankPublisher::close);
  }
}
