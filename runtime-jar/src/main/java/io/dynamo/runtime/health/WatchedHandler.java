package io.dynamo.runtime.health;

import io.dynamo.concurrent.ForwardingSubscriber;
import io.dynamo.request.EndpointHandler;
import io.dynamo.request.RequestContext;
import java.util.concurrent.Flow;
import java.util.function.Predicate;

/** Reports every item that is not an error, and changes nothing. Safe for concurrent use. */
final class WatchedHandler<Q, R> implements EndpointHandler<Q, R> {
  private final EndpointHandler<Q, R> handler;
  private final Predicate<R> isError;
  private final Runnable onItem;

  WatchedHandler(EndpointHandler<Q, R> handler, Predicate<R> isError, Runnable onItem) {
    this.handler = handler;
    this.isError = isError;
    this.onItem = onItem;
  }

  @Override
  public Flow.Publisher<R> handle(Q request, RequestContext context) {
    var answer = handler.handle(request, context);
    return next -> answer.subscribe(new Watch(next));
  }

  private final class Watch extends ForwardingSubscriber<R> {
    Watch(Flow.Subscriber<? super R> next) {
      super(next);
    }

    @Override
    public void onNext(R item) {
      if (!isError.test(item)) {
        onItem.run();
      }
      next.onNext(item);
    }
  }
}
