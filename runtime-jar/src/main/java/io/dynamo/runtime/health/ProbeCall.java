package io.dynamo.runtime.health;

import io.dynamo.concurrent.Cancellation;
import io.dynamo.concurrent.Deadline;
import io.dynamo.request.EndpointHandler;
import io.dynamo.request.RequestContext;
import java.time.Duration;
import java.util.Map;
import java.util.UUID;
import java.util.concurrent.Flow;
import java.util.concurrent.atomic.AtomicBoolean;
import java.util.function.Consumer;
import java.util.function.Predicate;
import org.jspecify.annotations.Nullable;

/**
 * One probing call of a handler: its first item, its end or the alarm decides, whichever comes
 * first.
 */
final class ProbeCall<R> implements Flow.Subscriber<R> {
  private final Predicate<R> isError;
  private final Consumer<@Nullable String> verdict;
  private final RequestContext context;
  private final AtomicBoolean decided = new AtomicBoolean();
  private volatile boolean returned; // the handler has returned

  /**
   * @param verdict called once: null when the endpoint is healthy, otherwise the failure
   */
  ProbeCall(Duration timeout, Predicate<R> isError, Consumer<@Nullable String> verdict) {
    this.isError = isError;
    this.verdict = verdict;
    this.context =
        new RequestContext(
            UUID.randomUUID().toString(),
            Map.of(),
            Map.of(),
            Deadline.after(timeout),
            new Cancellation());
  }

  /** Calls the handler. May block for as long as the handler does. */
  <Q> void run(EndpointHandler<Q, R> handler, Q payload) {
    try {
      handler.handle(payload, context).subscribe(this);
    } catch (RuntimeException e) {
      end(String.valueOf(e.getMessage()));
    } finally {
      returned = true;
    }
  }

  /** Whether it is decided and holds no thread. */
  boolean isOver() {
    return decided.get() && returned;
  }

  /** Decides the probe unless it is decided, and cancels the rest of the answer. */
  void end(@Nullable String failure) {
    if (decided.compareAndSet(false, true)) {
      context.cancellation().kill();
      verdict.accept(failure);
    }
  }

  @Override
  public void onSubscribe(Flow.Subscription subscription) {
    var _ = context.cancellation().onCancel(_ -> subscription.cancel());
    subscription.request(1);
  }

  @Override
  public void onNext(R item) {
    end(isError.test(item) ? "the first item says that it failed" : null);
  }

  @Override
  public void onError(Throwable cause) {
    end(String.valueOf(cause.getMessage()));
  }

  @Override
  public void onComplete() {
    end("the answer was empty");
  }
}
