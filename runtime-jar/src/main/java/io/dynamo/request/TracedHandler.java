package io.dynamo.request;

import io.dynamo.concurrent.ForwardingSubscriber;
import io.dynamo.discovery.EndpointId;
import io.dynamo.discovery.InstanceId;
import io.dynamo.error.DynamoException;
import io.dynamo.trace.Span;
import io.dynamo.trace.TraceContext;
import io.dynamo.trace.Tracing;
import java.util.concurrent.Flow;
import java.util.concurrent.atomic.AtomicBoolean;

/**
 * A handler that records a span, Dynamo's {@code handle_payload}, for each request that its
 * requester traces. The span lasts from the request to the end of its answer, or until it is given
 * up; requests that the handler itself sends are children of that span. Safe for concurrent use.
 */
final class TracedHandler<Q, R> implements EndpointHandler<Q, R> {
  private static final String NAME = "handle_payload";

  private final EndpointHandler<Q, R> handler;
  private final Tracing tracing;
  private final EndpointId endpoint;
  private final InstanceId id;

  TracedHandler(
      EndpointHandler<Q, R> handler, Tracing tracing, EndpointId endpoint, InstanceId id) {
    this.handler = handler;
    this.tracing = tracing;
    this.endpoint = endpoint;
    this.id = id;
  }

  @Override
  public Flow.Publisher<R> handle(Q request, RequestContext context) {
    var parent = TraceContext.of(context.headers());
    if (parent == null || !tracing.isOn()) {
      return handler.handle(request, context);
    }
    var span =
        tracing
            .start(NAME, Tracing.Kind.SERVER, parent, Tracing.Start.NOW)
            .put("dynamo.request_id", context.id())
            .put("dynamo.endpoint", endpoint.toString())
            .put("dynamo.worker_id", id.hex());
    Flow.Publisher<R> answer;
    try {
      answer = handler.handle(request, within(span, context));
    } catch (RuntimeException | Error refusal) {
      span.fail(DynamoException.kindOf(refusal));
      span.end();
      throw refusal;
    }
    return subscriber -> answer.subscribe(new SpanSubscriber<>(subscriber, span));
  }

  private static RequestContext within(Span span, RequestContext context) {
    var own = span.context();
    return own == null
        ? context
        : new RequestContext(
            context.id(),
            context.metadata(),
            own.in(context.headers()),
            context.deadline(),
            context.cancellation());
  }

  /** Passes every signal on, and ends the span with the stream. */
  private static final class SpanSubscriber<R> extends ForwardingSubscriber<R> {
    private final Span span;
    private final AtomicBoolean over = new AtomicBoolean();
    private boolean begun; // items arrive one after the other

    SpanSubscriber(Flow.Subscriber<? super R> to, Span span) {
      super(to);
      this.span = span;
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
              end("cancelled");
            }
          });
    }

    @Override
    public void onNext(R item) {
      if (!begun) {
        begun = true;
        span.event("first_item");
      }
      next.onNext(item);
    }

    @Override
    public void onError(Throwable failure) {
      end(DynamoException.kindOf(failure));
      next.onError(failure);
    }

    @Override
    public void onComplete() {
      if (over.compareAndSet(false, true)) {
        span.end();
      }
      next.onComplete();
    }

    private void end(String failure) {
      if (over.compareAndSet(false, true)) {
        span.fail(failure);
        span.end();
      }
    }
  }
}
