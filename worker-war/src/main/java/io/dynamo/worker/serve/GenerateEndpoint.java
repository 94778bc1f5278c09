package io.dynamo.worker.serve;

import io.dynamo.error.InvalidRequestException;
import io.dynamo.inference.EngineOutput;
import io.dynamo.inference.FinishReason;
import io.dynamo.inference.GenerateRequest;
import io.dynamo.metrics.Label;
import io.dynamo.metrics.Metrics;
import io.dynamo.metrics.WorkerMetrics;
import io.dynamo.request.EndpointHandler;
import io.dynamo.request.RequestContext;
import io.dynamo.worker.engine.Engine;
import io.dynamo.worker.engine.EngineDescription;
import java.util.Arrays;
import java.util.concurrent.Flow;
import java.util.concurrent.atomic.AtomicBoolean;

/** Answers requests with the engine's streams. Safe for concurrent use; never blocks. */
public final class GenerateEndpoint implements EndpointHandler<GenerateRequest, EngineOutput> {
  private final Engine engine;
  private final EngineDescription limits;
  private final Metrics.Counter requests;
  private final Metrics.Level inflight;
  private final Metrics.Timer duration;
  private final Metrics.Counter errors;
  private final Metrics.Counter cancellations;

  /**
   * @param engine started
   * @param limits what it told at its start
   * @param labels of the endpoint, for every meter
   */
  public GenerateEndpoint(
      Engine engine, EngineDescription limits, Metrics metrics, Label... labels) {
    this.engine = engine;
    this.limits = limits;
    this.requests = metrics.counter(WorkerMetrics.REQUESTS, labels);
    this.inflight = metrics.level(WorkerMetrics.INFLIGHT, labels);
    this.duration = metrics.timer(WorkerMetrics.REQUEST_DURATION, labels);
    this.cancellations = metrics.counter(WorkerMetrics.CANCELLATIONS, labels);
    var failed = Arrays.copyOf(labels, labels.length + 1);
    failed[labels.length] = new Label("error_type", "generate");
    this.errors = metrics.counter(WorkerMetrics.ERRORS, failed);
  }

  @Override
  public Flow.Publisher<EngineOutput> handle(GenerateRequest request, RequestContext context) {
    requests.increment();
    try {
      check(request);
      return new Measured(engine.generate(request, context));
    } catch (RuntimeException refused) {
      errors.increment();
      throw refused;
    }
  }

  private void check(GenerateRequest request) {
    var rank = request.routing().rank();
    if (rank != null && (rank < 0 || rank >= limits.ranks())) {
      throw new InvalidRequestException(
          "dp_rank %d is out of bounds for dp_size %d".formatted(rank, limits.ranks()));
    }
    int prompt = request.tokenIds().length;
    if (prompt == 0) {
      throw new InvalidRequestException("the prompt has no tokens");
    }
    var asked = request.stop().maxTokens();
    int budget = asked == null ? 1 : asked;
    if (budget < 0) {
      throw new InvalidRequestException("max_tokens " + budget + " is negative");
    }
    if ((long) prompt + budget > limits.contextLength()) {
      throw new InvalidRequestException(
          "%d prompt tokens and %d to generate exceed the context of %d tokens"
              .formatted(prompt, budget, limits.contextLength()));
    }
  }

  /** Counts one stream as in flight until its end or its subscriber's. */
  private final class Measured implements Flow.Publisher<EngineOutput> {
    private final Flow.Publisher<EngineOutput> stream;
    private final long begunNanos = System.nanoTime();
    private final AtomicBoolean ended = new AtomicBoolean();

    Measured(Flow.Publisher<EngineOutput> stream) {
      this.stream = stream;
      inflight.add(1);
    }

    @Override
    public void subscribe(Flow.Subscriber<? super EngineOutput> next) {
      stream.subscribe(new Meter(this, next));
    }

    /** Counts the end, once; whether this was it. */
    boolean end() {
      if (!ended.compareAndSet(false, true)) {
        return false;
      }
      inflight.add(-1);
      duration.record(System.nanoTime() - begunNanos);
      return true;
    }
  }

  private final class Meter implements Flow.Subscriber<EngineOutput> {
    private final Measured measured;
    private final Flow.Subscriber<? super EngineOutput> next;
    private boolean cancelled; // the last item said so

    Meter(Measured measured, Flow.Subscriber<? super EngineOutput> next) {
      this.measured = measured;
      this.next = next;
    }

    @Override
    public void onSubscribe(Flow.Subscription subscription) {
      next.onSubscribe(
          new Flow.Subscription() {
            @Override
            public void request(long count) {
              subscription.request(count);
            }

            @Override
            public void cancel() {
              subscription.cancel();
              if (measured.end()) {
                cancellations.increment();
              }
            }
          });
    }

    @Override
    public void onNext(EngineOutput item) {
      cancelled = item.finishReason() == FinishReason.CANCELLED;
      next.onNext(item);
    }

    @Override
    public void onError(Throwable cause) {
      if (measured.end()) {
        errors.increment();
      }
      next.onError(cause);
    }

    @Override
    public void onComplete() {
      if (measured.end() && cancelled) {
        cancellations.increment();
      }
      next.onComplete();
    }
  }
}
