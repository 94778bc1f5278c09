package io.dynamo.worker.engine.mock;

import io.dynamo.concurrent.ItemStream;
import io.dynamo.inference.EngineOutput;
import java.util.concurrent.Flow;

/**
 * One generation's tokens on their way out. Offered to by the rank's thread; drained by whichever
 * thread makes progress. Invariant: at most {@code buffer} tokens are held, and there is always
 * room for the one last item.
 */
final class GenerationStream implements Flow.Publisher<EngineOutput> {
  private final ItemStream<EngineOutput> items;
  private final int buffer;
  private final Runnable onRoom;
  private volatile long offered; // written by the rank's thread
  private volatile long delivered; // written by the draining thread
  private volatile boolean paused; // the rank waits for onRoom

  GenerationStream(int buffer, Runnable onRoom, Runnable onAbandoned) {
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
    long count = offered + 1;
    offered = count;
    items.offer(token);
  }

  void finish(EngineOutput last) {
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
