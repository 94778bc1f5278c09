package io.dynamo.worker.load;

import io.dynamo.discovery.EndpointId;
import io.dynamo.discovery.InstanceId;
import io.dynamo.event.EventPlane;
import io.dynamo.event.EventSubject;
import io.dynamo.inference.EngineOutput;
import io.dynamo.inference.GenerateRequest;
import io.dynamo.kv.PrefillCompleted;
import io.dynamo.kv.SequenceEvent;
import io.dynamo.kv.WorkerRank;
import io.dynamo.kv.codec.SequenceEventCodec;
import io.dynamo.metrics.Metrics.Counter;
import io.dynamo.request.EndpointHandler;
import java.lang.System.Logger.Level;
import java.util.ArrayList;
import java.util.List;
import java.util.concurrent.ArrayBlockingQueue;
import java.util.concurrent.BlockingQueue;
import java.util.concurrent.Executor;
import java.util.concurrent.Flow;
import java.util.concurrent.RejectedExecutionException;
import java.util.concurrent.atomic.AtomicInteger;
import org.jspecify.annotations.Nullable;

/**
 * Tells routers of each request whose first token is out, so that they stop counting its prompt as
 * work to do. Marks leave in batches, by one task of the executor at a time; those that find the
 * queue full are dropped and counted. Safe for concurrent use; never blocks a stream.
 */
public final class PrefillMarks implements AutoCloseable {
  static final int WAITING = 4096;

  /** Marks in one message, as Dynamo bounds them. */
  static final int BATCH = 256;

  private static final System.Logger LOG = System.getLogger(PrefillMarks.class.getName());

  private final InstanceId worker;
  private final int ranks;
  private final Executor executor;
  private final Counter dropped;
  private final BlockingQueue<PrefillCompleted> waiting = new ArrayBlockingQueue<>(WAITING);
  private final AtomicInteger work = new AtomicInteger(); // sending passes owed
  private final EventPlane.Publisher publisher; // guarded by this, like what follows
  private boolean failing;
  private boolean closed;

  /**
   * @param ranks how many the engine has
   * @param executor encodes and sends
   * @param dropped counts marks that were not published
   */
  public PrefillMarks(
      EventPlane plane,
      EndpointId endpoint,
      InstanceId worker,
      int ranks,
      Executor executor,
      Counter dropped) {
    this.worker = worker;
    this.ranks = ranks;
    this.executor = executor;
    this.dropped = dropped;
    this.publisher = plane.publisher(new EventSubject(endpoint, SequenceEvent.TOPIC));
  }

  /**
   * The same answers, with the first token of each told. A request that leaves the choice among
   * several ranks to the engine was booked on none, and nothing is told of it.
   */
  public EndpointHandler<GenerateRequest, EngineOutput> watch(
      EndpointHandler<GenerateRequest, EngineOutput> handler) {
    return (request, context) -> {
      var stream = handler.handle(request, context);
      var rank = rankOf(request);
      return rank == null
          ? stream
          : next -> stream.subscribe(new FirstToken(next, context.id(), rank));
    };
  }

  private @Nullable WorkerRank rankOf(GenerateRequest request) {
    var named = request.routing().rank();
    if (named == null) {
      return ranks == 1 ? new WorkerRank(worker, 0) : null;
    }
    return new WorkerRank(worker, named);
  }

  /** Passes everything on; called by one thread at a time. */
  private final class FirstToken implements Flow.Subscriber<EngineOutput> {
    private final Flow.Subscriber<? super EngineOutput> next;
    private final String requestId;
    private final WorkerRank rank;
    private boolean told;

    FirstToken(Flow.Subscriber<? super EngineOutput> next, String requestId, WorkerRank rank) {
      this.next = next;
      this.requestId = requestId;
      this.rank = rank;
    }

    @Override
    public void onSubscribe(Flow.Subscription subscription) {
      next.onSubscribe(subscription);
    }

    @Override
    public void onNext(EngineOutput item) {
      if (!told && item.tokenIds().length > 0) {
        told = true;
        add(new PrefillCompleted(requestId, rank, worker));
      }
      next.onNext(item);
    }

    @Override
    public void onError(Throwable cause) {
      next.onError(cause);
    }

    @Override
    public void onComplete() {
      next.onComplete();
    }
  }

  private void add(PrefillCompleted mark) {
    if (!waiting.offer(mark)) {
      dropped.increment();
      return;
    }
    if (work.getAndIncrement() == 0) {
      try {
        executor.execute(this::send);
      } catch (RejectedExecutionException stopped) {
        work.set(0); // the worker stops; what waits is of no use to anybody
      }
    }
  }

  private void send() {
    int passes = 1;
    var batch = new ArrayList<PrefillCompleted>();
    do {
      while (waiting.drainTo(batch, BATCH) > 0) {
        publish(batch);
        batch.clear();
      }
      passes = work.addAndGet(-passes);
    } while (passes != 0);
  }

  private synchronized void publish(List<PrefillCompleted> batch) {
    if (closed) {
      return;
    }
    try {
      publisher.publish(SequenceEventCodec.encode(batch));
      if (failing) {
        failing = false;
        LOG.log(Level.INFO, "first tokens of worker {0} are published again", worker);
      }
    } catch (RuntimeException | Error failure) {
      dropped.add(batch.size());
      if (!failing) {
        failing = true;
        LOG.log(
            Level.WARNING, "first tokens of worker " + worker + " cannot be published", failure);
      }
    }
  }

  /** Tells nothing from now on. Idempotent. */
  @Override
  public synchronized void close() {
    if (!closed) {
      closed = true;
      publisher.close();
    }
  }
}
