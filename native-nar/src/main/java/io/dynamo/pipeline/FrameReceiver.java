package io.dynamo.pipeline;

import io.netty.buffer.ByteBuf;
import io.netty.buffer.Unpooled;
import io.netty.channel.Channel;
import io.netty.channel.ChannelInboundHandlerAdapter;
import io.netty.handler.codec.ByteToMessageDecoder;
import io.netty.util.concurrent.Future;
import java.util.concurrent.atomic.AtomicInteger;
import org.jspecify.annotations.Nullable;

/**
 * Reads a channel as a stream of two-part frames and passes its items to a listener. Runs on the
 * channel's event loop. It cuts frames itself instead of using a decoder, because a pause must hold
 * back the frames that were read together, and an end of the channel must not lose them. Subclasses
 * read all that is no item.
 */
public abstract class FrameReceiver extends ChannelInboundHandlerAdapter implements ReceivedStream {
  protected static final int MAX_HEADER_BYTES = 64 * 1024;

  /** The next part of the stream; {@code START} is all that precedes the prologue. */
  protected enum Awaiting {
    START,
    PROLOGUE,
    ITEMS,
    NOTHING
  }

  private final int maxFrameBytes;
  private final boolean timed;
  private final AtomicInteger reads = new AtomicInteger(); // written on the event loop, as the next
  private final AtomicInteger items = new AtomicInteger();
  private volatile boolean paused; // written on the event loop
  private boolean cutting; // inside cut(): a listener may resume from there
  private boolean ended;
  private long heardAtNanos;
  private @Nullable Channel channel;

  /** Bytes that have arrived and are not read yet. */
  protected ByteBuf pending = Unpooled.EMPTY_BUFFER;

  protected Awaiting awaiting;

  /** Receives the stream; null before it is known. */
  protected @Nullable StreamListener listener;

  protected @Nullable Throwable failure;

  protected @Nullable Future<?> timer;

  /**
   * @param maxFrameBytes the most bytes of an item's frame
   * @param timed whether {@link #heardAtNanos} is kept
   */
  protected FrameReceiver(Awaiting first, int maxFrameBytes, boolean timed) {
    this.awaiting = first;
    this.maxFrameBytes = maxFrameBytes;
    this.timed = timed;
  }

  /**
   * Reads the next part of {@link #pending} that is not a whole item.
   *
   * @return whether there may be more to read
   * @throws FrameException when the peer breaks the protocol
   */
  protected abstract boolean readControl() throws FrameException;

  /** Handles a breach of the protocol, or a listener's failure. */
  protected abstract void broken(Exception cause);

  /** Handles the end of the channel, once all that came before it has been passed on. */
  protected abstract void endOfInput();

  protected final void attach(Channel to) {
    channel = to;
  }

  protected final Channel channel() {
    if (channel == null) {
      throw new IllegalStateException("no connection yet");
    }
    return channel;
  }

  protected final StreamListener listening() {
    if (listener == null) {
      throw new IllegalStateException("nobody reads this stream");
    }
    return listener;
  }

  /** Notes that bytes have arrived. */
  protected final void countRead() {
    reads.setOpaque(reads.getPlain() + 1);
  }

  /** Adds bytes, which {@link #cut} reads; takes ownership. */
  protected final void add(ByteBuf bytes) {
    if (awaiting == Awaiting.NOTHING) {
      bytes.release();
    } else {
      pending = ByteToMessageDecoder.MERGE_CUMULATOR.cumulate(channel().alloc(), pending, bytes);
    }
  }

  /** Records the end of the input. */
  protected final void endInput() {
    ended = true;
  }

  /** Whether the input has ended. */
  protected final boolean hasInputEnded() {
    return ended;
  }

  /** Reads the arrived bytes, until a listener pauses. */
  protected final void cut() {
    if (cutting) {
      return;
    }
    cutting = true;
    try {
      boolean more = true;
      while (more && !paused && awaiting != Awaiting.NOTHING) {
        int bodyBytes =
            awaiting == Awaiting.ITEMS ? TwoPartFrame.wholeBody(pending, maxFrameBytes) : -1;
        if (bodyBytes >= 0) {
          itemInPlace(bodyBytes);
        } else {
          more = readControl();
        }
      }
    } catch (FrameException | RuntimeException e) { // later bytes must not be taken for the answer
      broken(e);
    } finally {
      cutting = false;
    }
    if (ended && !paused) {
      endOfInput();
    }
    releaseIfIdle();
  }

  /** Passes the next body to the listener in place, so that an item needs no buffer of its own. */
  private void itemInPlace(int bodyBytes) {
    if (timed) {
      heardAtNanos = System.nanoTime();
    }
    items.setOpaque(items.getPlain() + 1);
    var in = pending;
    if (bodyBytes == 0) { // neither header nor body: no content
      in.skipBytes(TwoPartFrame.PREFIX_BYTES);
      return;
    }
    int from = in.readerIndex() + TwoPartFrame.PREFIX_BYTES;
    int end = in.writerIndex();
    in.setIndex(from, from + bodyBytes);
    boolean readOn;
    try {
      readOn = listening().item(in);
    } finally {
      in.setIndex(from + bodyBytes, end);
    }
    if (!readOn && awaiting == Awaiting.ITEMS) {
      paused = true;
      channel().config().setAutoRead(false);
    }
  }

  private void releaseIfIdle() {
    if (awaiting == Awaiting.NOTHING || !pending.isReadable()) {
      pending.release();
      pending = Unpooled.EMPTY_BUFFER;
    } else if (pending.refCnt() == 1) {
      pending.discardSomeReadBytes(); // chunks that end inside a frame would pile up
    }
  }

  protected final void cancelTimer() {
    if (timer != null) {
      timer.cancel(false);
    }
  }

  /** Returns when the last item came or reading was resumed, on {@link System#nanoTime}. */
  protected final long heardAtNanos() {
    return heardAtNanos;
  }

  /** Restarts the time of {@link #heardAtNanos} now. */
  protected final void markReceived() {
    heardAtNanos = System.nanoTime();
  }

  @Override
  public final void resume() {
    onLoop(
        () -> {
          if (paused) {
            paused = false;
            if (timed) {
              markReceived(); // inactivity counts from here: it was paused
            }
            cut();
            if (!paused) {
              channel().config().setAutoRead(true);
            }
          }
        });
  }

  @Override
  public final int reads() {
    return reads.getOpaque();
  }

  @Override
  public final int items() {
    return items.getOpaque();
  }

  @Override
  public final boolean isPaused() {
    return paused;
  }

  @Override
  public final void close() {
    onLoop(
        () -> {
          awaiting = Awaiting.NOTHING;
          cancelTimer();
          paused = false;
          Sockets.close(channel());
          if (!cutting) {
            releaseIfIdle();
          }
        });
  }

  /**
   * Runs {@code task} on the event loop, immediately when called on it: a pause requested inside
   * {@code item} must not be overtaken.
   */
  protected final void onLoop(Runnable task) {
    var loop = channel().eventLoop();
    if (loop.inEventLoop()) {
      task.run();
    } else {
      loop.execute(task);
    }
  }
}
