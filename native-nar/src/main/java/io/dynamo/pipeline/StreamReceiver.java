package io.dynamo.pipeline;

import io.netty.buffer.ByteBuf;
import io.netty.buffer.Unpooled;
import io.netty.channel.Channel;
import io.netty.channel.ChannelFutureListener;
import io.netty.channel.ChannelHandlerContext;
import io.netty.channel.ChannelInboundHandlerAdapter;
import io.netty.channel.ChannelOption;
import io.netty.handler.codec.ByteToMessageDecoder;
import io.netty.util.concurrent.Future;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.atomic.AtomicInteger;
import java.util.function.Function;
import org.jspecify.annotations.Nullable;

/**
 * One call-home connection from which items are read: an answer that a worker delivers, or, dialled
 * by the worker, the input of a bidirectional request. Runs on its event loop. It cuts frames
 * itself instead of using a decoder, because a pause must hold back the frames that were read
 * together, and an end of the connection must not lose them.
 */
final class StreamReceiver extends ChannelInboundHandlerAdapter implements ReceivedStream {
  private static final int MAX_HEADER_BYTES = 64 * 1024;
  private static final int MAX_HANDSHAKE_BYTES = 4 * 1024;
  private static final int MAX_PROLOGUE_BYTES = 64 * 1024;

  private enum Awaiting {
    HANDSHAKE,
    PROLOGUE,
    ITEMS,
    NOTHING
  }

  private final Function<Handshake, @Nullable StreamListener> claim;
  private final Function<Handshake, @Nullable InputSource> claimInput;
  private final StreamLimits limits;

  private @Nullable Channel channel;
  private @Nullable StreamListener listener;
  private @Nullable Future<?> timer; // bounds the handshake, then inactivity
  private long heardAtNanos; // kept while an input's inactivity is bounded
  private ByteBuf pending = Unpooled.EMPTY_BUFFER;
  private Awaiting awaiting = Awaiting.HANDSHAKE;
  private volatile boolean paused; // written on the event loop
  private final AtomicInteger reads = new AtomicInteger(); // this and the next: likewise
  private final AtomicInteger items = new AtomicInteger();
  private boolean cutting; // inside cut(): a listener may resume from there
  private boolean inputEnded;
  private @Nullable Throwable inputFailure;

  StreamReceiver(
      Function<Handshake, @Nullable StreamListener> claim,
      Function<Handshake, @Nullable InputSource> claimInput,
      StreamLimits limits) {
    this.claim = claim;
    this.claimInput = claimInput;
    this.limits = limits;
  }

  /** Reads the items of a stream whose handshake this side has sent: there is no prologue. */
  StreamReceiver(InputListener listener, StreamLimits limits) {
    this(stream -> null, stream -> null, limits);
    this.listener = listener;
    awaiting = Awaiting.ITEMS;
  }

  @Override
  public void handlerAdded(ChannelHandlerContext ctx) {
    channel = ctx.channel();
    if (awaiting == Awaiting.ITEMS) {
      limitSilence();
      listening().connected(this);
      return;
    }
    timer =
        ctx.executor()
            .schedule(
                () -> reset(ctx.channel()), limits.handshake().toNanos(), TimeUnit.NANOSECONDS);
  }

  @Override
  public void channelRead(ChannelHandlerContext ctx, Object message) {
    var bytes = (ByteBuf) message;
    reads.setOpaque(reads.getPlain() + 1);
    if (awaiting == Awaiting.NOTHING) {
      bytes.release();
      return;
    }
    pending = ByteToMessageDecoder.MERGE_CUMULATOR.cumulate(ctx.alloc(), pending, bytes);
    cut();
  }

  @Override
  public void channelInactive(ChannelHandlerContext ctx) {
    inputEnded = true;
    cancelTimer();
    cut();
  }

  @Override
  public void exceptionCaught(ChannelHandlerContext ctx, Throwable cause) {
    inputFailure = cause;
    Sockets.close(ctx.channel());
  }

  private void cut() {
    if (cutting) {
      return;
    }
    cutting = true;
    try {
      while (!paused && awaiting != Awaiting.NOTHING) {
        int bodyBytes =
            awaiting == Awaiting.ITEMS
                ? TwoPartFrame.wholeBody(pending, limits.maxFrameBytes())
                : -1;
        if (bodyBytes >= 0) {
          itemInPlace(bodyBytes);
          continue;
        }
        var frame = TwoPartFrame.read(pending, MAX_HEADER_BYTES, limit());
        if (frame == null) {
          break;
        }
        try {
          accept(frame);
        } finally {
          frame.release();
        }
      }
    } catch (FrameException | RuntimeException e) { // later bytes must not be taken for the answer
      refuse(e);
    } finally {
      cutting = false;
    }
    if (inputEnded && !paused) {
      breakOff(inputFailure);
    }
    releaseIfIdle();
  }

  /**
   * Returns the frame bound of the current phase: until the prologue a peer may make this process
   * buffer only little.
   */
  private int limit() {
    return switch (awaiting) {
      case HANDSHAKE -> Math.min(MAX_HANDSHAKE_BYTES, limits.maxFrameBytes());
      case PROLOGUE -> Math.min(MAX_PROLOGUE_BYTES, limits.maxFrameBytes());
      case ITEMS, NOTHING -> limits.maxFrameBytes();
    };
  }

  private void accept(TwoPartFrame frame) throws FrameException {
    switch (awaiting) {
      case HANDSHAKE -> handshake(frame);
      case PROLOGUE -> {
        awaiting = Awaiting.ITEMS;
        listening().prologue(frame.header());
      }
      case ITEMS -> signalled(frame);
      case NOTHING -> {}
    }
  }

  private void handshake(TwoPartFrame frame) throws FrameException {
    cancelTimer();
    if (frame.body().isReadable()) {
      throw new FrameException("a handshake has a body");
    }
    var handshake = Handshake.ofJson(frame.header());
    var source = claimInput.apply(handshake);
    if (source != null) {
      deliverInput(source);
      return;
    }
    var claimed = claim.apply(handshake);
    if (claimed == null) {
      throw new FrameException("nobody waits for this stream");
    }
    listener = claimed;
    awaiting = Awaiting.PROLOGUE;
    claimed.connected(this);
  }

  /** Switches the connection to sending: the worker called for a request's input. */
  private void deliverInput(InputSource source) throws FrameException {
    if (pending.isReadable()) {
      throw new FrameException("a worker sent what is no handshake to an input");
    }
    awaiting = Awaiting.NOTHING;
    var at = open();
    at.config().setOption(ChannelOption.ALLOW_HALF_CLOSURE, true);
    var sender = new InputSender(at, source);
    at.pipeline().replace(this, "input", sender);
    source.connected(sender);
  }

  private void limitSilence() {
    if (!limits.inactivity().isZero()) {
      heardAtNanos = System.nanoTime();
      listenFor(limits.inactivity().toNanos());
    }
  }

  private void listenFor(long nanos) {
    timer = open().eventLoop().schedule(this::silent, nanos, TimeUnit.NANOSECONDS);
  }

  private void silent() {
    if (awaiting != Awaiting.ITEMS) {
      return;
    }
    long left =
        paused
            ? limits.inactivity().toNanos()
            : heardAtNanos + limits.inactivity().toNanos() - System.nanoTime();
    if (left > 0) {
      listenFor(left);
    } else {
      refuse(new SilenceException(limits.inactivity()));
    }
  }

  /** Passes the next body to the listener in place, so that an item needs no buffer of its own. */
  private void itemInPlace(int bodyBytes) {
    if (!limits.inactivity().isZero()) {
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
      open().config().setAutoRead(false);
    }
  }

  private void signalled(TwoPartFrame frame) throws FrameException {
    var signal = StreamSignal.of(frame.header());
    if (listener instanceof InputListener input
        && (signal == StreamSignal.STOP || signal == StreamSignal.KILL)) {
      awaiting = Awaiting.NOTHING;
      cancelTimer();
      Sockets.close(open());
      input.signalled(signal);
      return;
    }
    if (signal != StreamSignal.SENTINEL || frame.body().isReadable()) {
      throw new FrameException("a peer sent a control frame that is not a plain sentinel");
    }
    awaiting = Awaiting.NOTHING;
    cancelTimer();
    Sockets.close(open());
    listening().sentinel();
  }

  /**
   * Refuses a peer that breaks the protocol: a worker with an expected stream gets a kill signal,
   * any other peer is disconnected.
   */
  private void refuse(Exception cause) {
    if (listener == null) {
      reset(open());
      return;
    }
    writeSignal(StreamSignal.KILL);
    Sockets.close(open());
    breakOff(cause);
  }

  private void breakOff(@Nullable Throwable cause) {
    if (awaiting == Awaiting.NOTHING) {
      return;
    }
    awaiting = Awaiting.NOTHING;
    cancelTimer();
    if (listener != null) {
      listener.broken(cause);
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

  private void reset(Channel at) {
    awaiting = Awaiting.NOTHING;
    at.config().setOption(ChannelOption.SO_LINGER, 0);
    Sockets.close(at);
  }

  private void cancelTimer() {
    if (timer != null) {
      timer.cancel(false);
    }
  }

  @Override
  public void signal(StreamSignal signal) {
    onLoop(
        () -> {
          if (awaiting != Awaiting.NOTHING) {
            writeSignal(signal);
          }
        });
  }

  private void writeSignal(StreamSignal signal) {
    var to = open();
    if (to.isActive()) {
      to.writeAndFlush(TwoPartFrame.ofHeader(to.alloc(), signal.header()))
          .addListener(ChannelFutureListener.CLOSE_ON_FAILURE);
    }
  }

  @Override
  public void resume() {
    onLoop(
        () -> {
          if (paused) {
            paused = false;
            heardAtNanos = System.nanoTime(); // inactivity counts from here: it was paused
            cut();
            if (!paused) {
              open().config().setAutoRead(true);
            }
          }
        });
  }

  @Override
  public int reads() {
    return reads.getOpaque();
  }

  @Override
  public int items() {
    return items.getOpaque();
  }

  @Override
  public boolean isPaused() {
    return paused;
  }

  @Override
  public void close() {
    onLoop(
        () -> {
          awaiting = Awaiting.NOTHING;
          cancelTimer();
          paused = false;
          Sockets.close(open());
          if (!cutting) {
            releaseIfIdle();
          }
        });
  }

  /**
   * Runs {@code task} on the event loop, immediately when called on it: a pause requested inside
   * {@code item} must not be overtaken.
   */
  private void onLoop(Runnable task) {
    var loop = open().eventLoop();
    if (loop.inEventLoop()) {
      task.run();
    } else {
      loop.execute(task);
    }
  }

  private Channel open() {
    if (channel == null) {
      throw new IllegalStateException("no connection yet");
    }
    return channel;
  }

  private StreamListener listening() {
    if (listener == null) {
      throw new IllegalStateException("no handshake yet");
    }
    return listener;
  }
}
