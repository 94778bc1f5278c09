package io.dynamo.worker.kv;

import io.dynamo.discovery.EndpointId;
import io.dynamo.discovery.InstanceId;
import io.dynamo.event.EventPlane;
import io.dynamo.event.EventSubject;
import io.dynamo.kv.KvEvent;
import io.dynamo.kv.RankEvent;
import io.dynamo.kv.StoredBlock;
import io.dynamo.kv.WorkerRank;
import io.dynamo.metrics.Metrics.Counter;
import io.dynamo.token.SequenceHash;
import io.dynamo.worker.engine.KvEventSink;
import java.util.List;
import java.util.concurrent.Executor;
import java.util.function.Function;
import java.util.stream.IntStream;
import org.jspecify.annotations.Nullable;

/**
 * Gives KV events their ids and publishes them, one publisher per rank, in batches of what has
 * gathered. Never blocks the engine: when too many wait, the newest is dropped and counted, and the
 * gap in ids tells subscribers. Each rank is told by one thread at a time.
 */
public final class KvEventPublisher implements KvEventSink, AutoCloseable {
  public static final String TOPIC = "kv-events";

  private final List<RankPublisher> ranks;

  /**
   * @param encoder turns a batch into the payload of one message
   * @param executor encodes and sends; may run tasks of several ranks at once
   * @param dropped counts events that were not published
   */
  public KvEventPublisher(
      EventPlane plane,
      EndpointId endpoint,
      InstanceId worker,
      int ranks,
      Function<List<RankEvent>, byte[]> encoder,
      Executor executor,
      Counter dropped) {
    var subject = new EventSubject(endpoint, TOPIC);
    this.ranks =
        IntStream.range(0, ranks)
            .mapToObj(
                rank ->
                    new RankPublisher(
                        new WorkerRank(worker, rank),
                        plane.publisher(subject),
                        encoder,
                        executor,
                        dropped))
            .toList();
  }

  @Override
  public void stored(int rank, @Nullable SequenceHash parent, List<StoredBlock> blocks) {
    ranks.get(rank).add(id -> new KvEvent.Stored(id, parent, blocks));
  }

  @Override
  public void removed(int rank, List<SequenceHash> blocks) {
    ranks.get(rank).add(id -> new KvEvent.Removed(id, blocks));
  }

  @Override
  public void cleared(int rank) {
    ranks.get(rank).add(KvEvent.Cleared::new);
  }

  /** Sends nothing from now on. Idempotent. */
  @Override
  public void close() {
    ranks.forEach(RankPublisher::close);
  }
}
