package io.dynamo.worker.kv;

import io.dynamo.event.EventPlane;
import io.dynamo.kv.KvEvent;
import io.dynamo.kv.RankEvent;
import io.dynamo.kv.WorkerRank;
import io.dynamo.metrics.Metrics.Counter;
import java.lang.System.Logger.Level;
import java.util.ArrayList;
import java.util.List;
import java.util.Queue;
import java.util.concurrent.ArrayBlockingQueue;
import java.util.concurrent.Executor;
import java.util.concurrent.RejectedExecutionException;
import java.util.concurrent.atomic.AtomicInteger;
import java.util.function.Function;
import java.util.function.LongFunction;

/**
 * One rank's events: told by the rank's thread, sent by one task of the executor at a time. Ids
 * rise by one from 1, also over events that are dropped.
 */
final class RankPublisher {
  static final int BATCH_EVENTS = 128;
  static final int BATCH_BLOCKS = 8192;
  static final int QUEUE_EVENTS = 4096;
  private static final System.Logger LOG = System.getLogger(RankPublisher.class.getName());

  private final WorkerRank rank;
  private final EventPlane.Publisher publisher;
  private final Function<List<RankEvent>, byte[]> encoder;
  private final Executor executor;
  private final Counter dropped;
  private final Queue<KvEvent> queue = new ArrayBlockingQueue<>(QUEUE_EVENTS);
  private final AtomicInteger work = new AtomicInteger(); // sending passes owed
  private long lastId; // the rank's thread
  private boolean failing; // guarded by this
  private boolean closed; // guarded by this

  RankPublisher(
      WorkerRank rank,
      EventPlane.Publisher publisher,
      Function<List<RankEvent>, byte[]> encoder,
      Executor executor,
      Counter dropped) {
    this.rank = rank;
    this.publisher = publisher;
    this.encoder = encoder;
    this.executor = executor;
    this.dropped = dropped;
  }

  void add(LongFunction<KvEvent> event) {
    if (!queue.offer(event.apply(++lastId))) {
      dropped.increment();
    }
    if (work.getAndIncrement() == 0) {
      try {
        executor.execute(this::send);
      } catch (RejectedExecutionException stopped) {
        work.set(0); // events wait for the next attempt, within the bound of the queue
      }
    }
  }

  private void send() {
    int passes = 1;
    do {
      for (var batch = nextBatch(); !batch.isEmpty(); batch = nextBatch()) {
        publish(batch);
      }
      passes = work.addAndGet(-passes);
    } while (passes != 0);
  }

  private List<RankEvent> nextBatch() {
    var batch = new ArrayList<RankEvent>();
    int blocks = 0;
    while (batch.size() < BATCH_EVENTS) {
      var next = queue.peek();
      if (next == null || (!batch.isEmpty() && blocks + blocksOf(next) > BATCH_BLOCKS)) {
        break;
      }
      blocks += blocksOf(next);
      queue.remove();
      batch.add(new RankEvent(rank, next));
    }
    return batch;
  }

  private static int blocksOf(KvEvent event) {
    return switch (event) {
      case KvEvent.Stored stored -> stored.blocks().size();
      case KvEvent.Removed removed -> removed.blocks().size();
      case KvEvent.Cleared _ -> 0;
    };
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
    } catch (RuntimeException failure) {
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
