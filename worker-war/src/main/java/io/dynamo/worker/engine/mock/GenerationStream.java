package io.dynamo.worker.engine.mock;

import io.dynamo.concurrent.ItemStream;
import io.dynamo.inference.EngineOutput;
import io.dynamo.inference.FinishReason;
import java.util.concurrent.Flow;

/**
 * One generation's tokens on their way out. Offered to by the rank's thread; drained by whichever
 * thread makes progress. Invariant: at most {@code buffer} tokens are held, and there is always
 * room for the one last item.
 */
final class GenerationStream implements Flow.Publisher<EngineOutput> {
  private final ItemStream<EngineOutput> items;
  private final int buffer;
  private final RankSeries series;
  private final Runnable onRoom;
  private final long begunNanos = System.nanoTime();
  private long lastTokenNanos; // touched by the rank's thread only, like tokens
  private boolean tokens; // there has been one
  private volatile long offered; // written by the rank's thread
  private volatile long delivered; // written by the draining thread
  private volatile boolean paused; // the rank waits for onRoom

  GenerationStream(int buffer, RankSeries series, Runnable onRoom, Runnable onAbandoned) {
    this.series = series;
    this.buffer = buffer;
    this.onRoom = onRoom;
    this.items = new ItemStream<>(buffer + 1, () -> {}, onAbandoned);
  }

  /**
   * Whether a token may be offered; if not, {@code onRoom} runs once half of the buffer is free.
   */
  boolean hasRoom() {
    if (offered - delivered < buffer) {
      paused = false;
      return true;
    }
    paused = true;
    return offered - delivered < buffer; // what was taken before the flag stood told nobody
  }

  void offer(EngineOutput token) {
    if (token.tokenIds().length > 0) {
      measure();
    }
    long count = offered + 1;
    offered = count;
    items.offer(token);
  }

  private void measure() {
    long now = System.nanoTime();
    if (tokens) {
      series.interToken().record(now - lastTokenNanos);
    } else {
      tokens = true;
      series.firstToken().record(now - begunNanos);
    }
    lastTokenNanos = now;
  }

  void finish(EngineOutput last) {
    if (last.finishReason() != FinishReason.CANCELLED) {
      series.whole().record(System.nanoTime() - begunNanos);
    }
    offer(last);
    items.complete();
  }

  void fail(Throwable cause) {
    items.fail(cause);
  }

  @Override
  public void subscribe(Flow.Subscriber<? super EngineOutput> next) {
    items.subscribe(new Counting(next));
  }

  private final class Counting implements Flow.Subscriber<EngineOutput> {
    private final Flow.Subscriber<? super EngineOutput> next;

    Counting(Flow.Subscriber<? super EngineOutput> next) {
      this.next = next;
    }

    @Override
    public void onSubscribe(Flow.Subscription subscription) {
      next.onSubscribe(subscription);
    }

    @Override
    public void onNext(EngineOutput item) {
      long count = delivered + 1;
      delivered = count;
      next.onNext(item);
      if (paused && offered - count <= buffer / 2) {
        paused = false;
        onRoom.run();
      }
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
}
