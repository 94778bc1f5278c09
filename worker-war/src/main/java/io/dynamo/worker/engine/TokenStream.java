package io.dynamo.worker.engine;

import io.dynamo.concurrent.ForwardingSubscriber;
import io.dynamo.concurrent.ItemStream;
import io.dynamo.error.ErrorCode;
import io.dynamo.error.WorkerLostException;
import io.dynamo.inference.EngineOutput;
import java.util.concurrent.Flow;

/**
 * The outgoing items of one generation. The engine's thread offers items; any thread that makes
 * progress drains them. Invariant: at most {@code buffer} items are held, and there is always room
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
   * @param buffer the number of items held without demand
   * @param onRoom called when a full stream has room again; runs on any thread
   * @param onAbandoned called when the subscriber cancels; runs on any thread
   */
  public TokenStream(int buffer, Runnable onRoom, Runnable onAbandoned) {
    this.buffer = buffer;
    this.onRoom = onRoom;
    this.items = new ItemStream<>(buffer + 1, () -> {}, onAbandoned);
  }

  /** Returns a stream of one item. */
  public static TokenStream of(EngineOutput last) {
    var stream = new TokenStream(1, () -> {}, () -> {});
    stream.finish(last);
    return stream;
  }

  /**
   * Returns the error that ends a stream whose engine was closed, so that the generation migrates.
   */
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
    return offered - delivered < buffer; // items taken before the flag was set triggered no onRoom
  }

  /** Adds an item; allowed only when {@link #hasRoom}. */
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
