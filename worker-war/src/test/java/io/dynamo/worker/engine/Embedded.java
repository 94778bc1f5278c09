package io.dynamo.worker.engine;

import io.dynamo.inference.EmbeddingOutput;
import io.dynamo.inference.EmbeddingRequest;
import io.dynamo.request.RequestContext;
import java.util.ArrayList;
import java.util.List;
import java.util.concurrent.CountDownLatch;
import java.util.concurrent.Flow;
import java.util.concurrent.TimeUnit;
import org.jspecify.annotations.Nullable;

/** Awaits the answer to a request for embeddings. */
public final class Embedded implements Flow.Subscriber<EmbeddingOutput> {
  private static final long PATIENCE_SECONDS = 60;

  private final CountDownLatch end = new CountDownLatch(1);
  private final List<EmbeddingOutput> items = new ArrayList<>(); // guarded by this
  private volatile Flow.@Nullable Subscription subscription;
  private volatile @Nullable Throwable failure;

  private Embedded() {}

  public static Embedded of(EmbeddingEngine engine, EmbeddingRequest request) {
    return of(engine, request, Requests.context());
  }

  public static Embedded of(
      EmbeddingEngine engine, EmbeddingRequest request, RequestContext context) {
    return from(engine.embed(request, context));
  }

  public static Embedded from(Flow.Publisher<EmbeddingOutput> answer) {
    var embedded = new Embedded();
    answer.subscribe(embedded);
    return embedded;
  }

  /** Returns a request for the embeddings of {@code prompts}. */
  public static EmbeddingRequest request(int[]... prompts) {
    return request(null, null, prompts);
  }

  public static EmbeddingRequest request(
      @Nullable Integer dimensions, @Nullable Integer truncatedTo, int[]... prompts) {
    return new EmbeddingRequest(
        "m", List.of(prompts), false, dimensions, truncatedTo, null, List.of());
  }

  public void cancel() {
    var at = subscription;
    if (at == null) {
      throw new AssertionError("no subscription came");
    }
    at.cancel();
  }

  public boolean isEnded() {
    return end.getCount() == 0;
  }

  /** Waits for the end, at most a minute. */
  public Embedded ended() throws InterruptedException {
    if (!end.await(PATIENCE_SECONDS, TimeUnit.SECONDS)) {
      throw new AssertionError("no end within " + PATIENCE_SECONDS + " s");
    }
    return this;
  }

  public @Nullable Throwable failure() {
    return failure;
  }

  /** Returns the one item of an answer that has ended well. */
  public synchronized EmbeddingOutput output() {
    if (failure != null || items.size() != 1) {
      throw new AssertionError("%d items, then %s".formatted(items.size(), failure), failure);
    }
    return items.getFirst();
  }

  public List<float[]> vectors() {
    return output().vectors();
  }

  @Override
  public void onSubscribe(Flow.Subscription to) {
    subscription = to;
    to.request(Long.MAX_VALUE);
  }

  @Override
  public synchronized void onNext(EmbeddingOutput item) {
    items.add(item);
  }

  @Override
  public void onError(Throwable cause) {
    failure = cause;
    end.countDown();
  }

  @Override
  public void onComplete() {
    end.countDown();
  }
}
