package io.dynamo.concurrent;

import java.util.concurrent.Flow;

/**
 * Passes every signal of a stream on to another subscriber, on the calling thread. Subclasses
 * override the signals that they inspect or change. For one thread at a time, as any subscriber is.
 */
public abstract class ForwardingSubscriber<T> implements Flow.Subscriber<T> {
  /** The subscriber that receives the signals. */
  protected final Flow.Subscriber<? super T> next;

  protected ForwardingSubscriber(Flow.Subscriber<? super T> next) {
    this.next = next;
  }

  @Override
  public void onSubscribe(Flow.Subscription subscription) {
    next.onSubscribe(subscription);
  }

  @Override
  public void onNext(T item) {
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
