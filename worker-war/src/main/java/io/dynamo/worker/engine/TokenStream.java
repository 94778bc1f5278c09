package io.dynamo.worker.engine;

import io.dynamo.concurrent.ForwardingSubscriber;
import io.dynamo.concurrent.ItemStream;
import io.dynamo.error.ErrorCode;
import io.dynamo.error.WorkerLostException;
import io.dynamo.inference.EngineOutput;
import java.util.concurrent.Flow;

/**
 * One generation's items on their way out. Offered to by the engine's thread; drained by whichever
 * thread makes progress. Invariant: at most {@code buffer} items are held, and there is always room
 * for the one last item.
 */
public final class TokenStream implements Flow.Publisher<EngineOutput> {
  private final ItemStream<EngineOutput> items;
  private final int buffer;
  private final Runnable onRoom;
  private volatile long offered; // written by the engine's thread
  private volatile long delivered; // written by the draining thread
  private volatile boolean paused; // the engine waits for onRoom

  /**
   * @param buffer items held without demand
   * @param onRoom called when a full stream has room again; runs on any thread
   * @param onAbandoned called when the subscriber cancels; runs on any thread
   */
  public TokenStream(int buffer, Runnable onRoom, Runnable onAbandoned) {
    this.buffer = buffer;
    this.onRoom = onRoom;
    this.items = new ItemStream<>(buffer + 1, () -> {}, onAbandoned);
  }

  /** A stream of one item. */
  public static TokenStream of(EngineOutput last) {
    var stream = new TokenStream(1, () -> {}, () -> {});
    stream.finish(last);
    return stream;
  }

  /** Why a stream ends whose engine was closed: so that the generation goes on elsewhere. */
  public static WorkerLostException shutDown() {
    return new WorkerLostException(
        ErrorCode.BACKEND_ENGINE_SHUTDOWN, "the engine was shut down before the generation ended");
  }

  /**
   * Whether an item may be offered; if not, {@code onRoom} runs once half of the buffer is free.
   */
  public boolean hasRoom() {
    if (offered - delivered < buffer) {
      paused = false;
      return true;
    }
    paused = true;
    return offered - delivered < buffer; // what was taken before the flag stood told nobody
  }

  /** Adds an item; only when there is room. */
  public void offer(EngineOutput item) {
    long count = offered + 1;
    offered = count;
    items.offer(item);
  }

  /** Ends the stream with its last item; there is always room for it. */
  public void finish(EngineOutput last) {
    offer(last);
    items.complete();
  }

  /** Ends the stream in an error, after the items offered so far. */
  public void fail(Throwable cause) {
    items.fail(cause);
  }

  @Override
  public void subscribe(Flow.Subscriber<? super EngineOutput> next) {
    items.subscribe(new Counting(next));
  }

  private final class Counting extends ForwardingSubscriber<EngineOutput> {
    Counting(Flow.Subscriber<? super EngineOutput> next) {
      super(next);
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
  }
}
