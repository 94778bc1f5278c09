package io.dynamo.worker.load;

import io.dynamo.concurrent.ForwardingSubscriber;
import io.dynamo.discovery.EndpointId;
import io.dynamo.discovery.InstanceId;
import io.dynamo.event.BatchPublisher;
import io.dynamo.event.EventPlane;
import io.dynamo.event.EventSubject;
import io.dynamo.inference.EngineOutput;
import io.dynamo.inference.GenerateRequest;
import io.dynamo.kv.PrefillCompleted;
import io.dynamo.kv.SequenceEvent;
import io.dynamo.kv.WorkerRank;
import io.dynamo.metrics.Metrics.Counter;
import io.dynamo.request.EndpointHandler;
import io.dynamo.wire.kv.SequenceEventCodec;
import java.util.concurrent.Executor;
import java.util.concurrent.Flow;
import org.jspecify.annotations.Nullable;

/**
 * Reports each request whose first token has been sent to routers, so that they stop counting its
 * prompt as pending work. Safe for concurrent use; never blocks a stream.
 */
public final class PrefillMarks implements AutoCloseable {
  static final int WAITING = 4096;

  /** The maximum number of marks in one message, as Dynamo bounds them. */
  static final int BATCH = 256;

  private final InstanceId worker;
  private final int ranks;
  private final BatchPublisher<PrefillCompleted> marks;

  /**
   * @param ranks the engine's number of ranks
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
    this.marks =
        new BatchPublisher<>(
            plane,
            new EventSubject(endpoint, SequenceEvent.TOPIC),
            WAITING,
            BATCH,
            SequenceEventCodec::encode,
            executor,
            dropped);
  }

  /**
   * Wraps {@code handler} so that the first token of each answer is published. A request that
   * leaves the choice among several ranks to the engine was booked on no rank, so nothing is
   * published for it.
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

  /**
   * Forwards all signals, and publishes a mark at the first token; called by one thread at a time.
   */
  private final class FirstToken extends ForwardingSubscriber<EngineOutput> {
    private final String requestId;
    private final WorkerRank rank;
    private boolean published;

    FirstToken(Flow.Subscriber<? super EngineOutput> next, String requestId, WorkerRank rank) {
      super(next);
      this.requestId = requestId;
      this.rank = rank;
    }

    @Override
    public void onNext(EngineOutput item) {
      if (!published && item.tokenIds().length > 0) {
        published = true;
        marks.add(new PrefillCompleted(requestId, rank, worker));
      }
      next.onNext(item);
    }
  }

  /** Stops publishing. Idempotent. */
  @Override
  public void close() {
    marks.close();
  }
}
