package io.dynamo.worker.kv;

import io.dynamo.concurrent.CoalescedTask;
import io.dynamo.event.EventPlane;
import io.dynamo.kv.KvEvent;
import io.dynamo.kv.RankEvent;
import io.dynamo.kv.StorageTier;
import io.dynamo.kv.WorkerRank;
import io.dynamo.metrics.Metrics.Counter;
import java.lang.System.Logger.Level;
import java.util.List;
import java.util.concurrent.Executor;
import java.util.function.Function;

/**
 * Publishes the events of one rank: the rank's thread adds them, one task of the executor at a time
 * sends them. Events that could not be sent are missing on the plane and counted; the {@linkplain
 * #log() log} has them, and routers that see the gap in ids query it.
 */
final class RankPublisher {
  static final int BATCH_EVENTS = 128;
  static final int BATCH_BLOCKS = 8192;
  private static final System.Logger LOG = System.getLogger(RankPublisher.class.getName());

  private final WorkerRank rank;
  private final EventPlane.Publisher publisher;
  private final Function<List<RankEvent>, byte[]> encoder;
  private final Counter dropped;
  private final RankLog log;
  private final CoalescedTask sending;
  private long sentId; // the last id sent; used by the sending task
  private boolean failing; // guarded by this
  private boolean closed; // guarded by this

  RankPublisher(
      WorkerRank rank,
      EventPlane.Publisher publisher,
      Function<List<RankEvent>, byte[]> encoder,
      Executor executor,
      Counter dropped,
      RankLog log) {
    this.rank = rank;
    this.publisher = publisher;
    this.encoder = encoder;
    this.dropped = dropped;
    this.log = log;
    this.sending =
        new CoalescedTask(
            "the publisher of KV events of rank " + rank,
            executor,
            this::send,
            () -> {}); // events wait for the next request, as long as the log keeps them
  }

  WorkerRank rank() {
    return rank;
  }

  long publisherId() {
    return publisher.id();
  }

  RankLog log() {
    return log;
  }

  void add(StorageTier tier, KvEvent change) {
    log.add(tier, change);
    sending.request();
  }

  private void send() {
    for (var batch = next(); !batch.events().isEmpty(); batch = next()) {
      dropped.add(batch.skipped());
      sentId = batch.lastId();
      publish(batch.events());
    }
  }

  private RankLog.Batch next() {
    return log.after(sentId, BATCH_EVENTS, BATCH_BLOCKS);
  }

  private synchronized void publish(List<RankEvent> batch) {
    if (closed) {
      return;
    }
    try {
      publisher.publish(encoder.apply(batch));
      if (failing) {
        failing = false;
        LOG.log(Level.INFO, "KV events of rank {0} are published again", rank);
      }
    } catch (RuntimeException | Error failure) {
      dropped.add(batch.size());
      if (!failing) {
        failing = true;
        LOG.log(Level.WARNING, "KV events of rank " + rank + " cannot be published", failure);
      }
    }
  }

  synchronized void close() {
    if (!closed) {
      closed = true;
      publisher.close();
    }
  }
}
