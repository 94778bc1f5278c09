package io.dynamo.pipeline;

import io.netty.buffer.ByteBuf;
import io.netty.channel.Channel;
import io.netty.channel.ChannelFutureListener;
import io.netty.channel.ChannelHandlerContext;
import io.netty.channel.ChannelOption;
import java.util.concurrent.TimeUnit;
import java.util.function.Function;
import org.jspecify.annotations.Nullable;

/**
 * One call-home connection from which items are read: an answer that a worker delivers, or, dialled
 * by the worker, the input of a bidirectional request. Runs on its event loop.
 */
final class StreamReceiver extends FrameReceiver {
  private static final int MAX_HANDSHAKE_BYTES = 4 * 1024;
  private static final int MAX_PROLOGUE_BYTES = 64 * 1024;

  private final Function<Handshake, @Nullable StreamListener> claim;
  private final Function<Handshake, @Nullable InputSource> claimInput;
  private final StreamLimits limits;

  private StreamReceiver(
      Awaiting first,
      Function<Handshake, @Nullable StreamListener> claim,
      Function<Handshake, @Nullable InputSource> claimInput,
      StreamLimits limits) {
    super(first, limits.maxFrameBytes(), !limits.inactivity().isZero());
    this.claim = claim;
    this.claimInput = claimInput;
    this.limits = limits;
  }

  StreamReceiver(
      Function<Handshake, @Nullable StreamListener> claim,
      Function<Handshake, @Nullable InputSource> claimInput,
      StreamLimits limits) {
    this(Awaiting.START, claim, claimInput, limits);
  }

  /** Reads the items of a stream whose handshake this side has sent: there is no prologue. */
  StreamReceiver(InputListener listener, StreamLimits limits) {
    this(Awaiting.ITEMS, stream -> null, stream -> null, limits);
    this.listener = listener;
  }

  @Override
  public void handlerAdded(ChannelHandlerContext ctx) {
    attach(ctx.channel());
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
    countRead();
    add((ByteBuf) message);
    cut();
  }

  @Override
  public void channelInactive(ChannelHandlerContext ctx) {
    endInput();
    cancelTimer();
    cut();
  }

  @Override
  public void exceptionCaught(ChannelHandlerContext ctx, Throwable cause) {
    failure = cause;
    Sockets.close(ctx.channel());
  }

  @Override
  protected boolean readControl() throws FrameException {
    var frame = TwoPartFrame.read(pending, MAX_HEADER_BYTES, limit());
    if (frame == null) {
      return false;
    }
    try {
      accept(frame);
    } finally {
      frame.release();
    }
    return true;
  }

  /**
   * Returns the frame bound of the current phase: until the prologue a peer may make this process
   * buffer only little.
   */
  private int limit() {
    return switch (awaiting) {
      case START -> Math.min(MAX_HANDSHAKE_BYTES, limits.maxFrameBytes());
      case PROLOGUE -> Math.min(MAX_PROLOGUE_BYTES, limits.maxFrameBytes());
      case ITEMS, NOTHING -> limits.maxFrameBytes();
    };
  }

  private void accept(TwoPartFrame frame) throws FrameException {
    switch (awaiting) {
      case START -> handshake(frame);
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
    var at = channel();
    at.config().setOption(ChannelOption.ALLOW_HALF_CLOSURE, true);
    var sender = new InputSender(at, source);
    at.pipeline().replace(this, "input", sender);
    source.connected(sender);
  }

  private void limitSilence() {
    if (!limits.inactivity().isZero()) {
      markReceived();
      listenFor(limits.inactivity().toNanos());
    }
  }

  private void listenFor(long nanos) {
    timer = channel().eventLoop().schedule(this::silent, nanos, TimeUnit.NANOSECONDS);
  }

  private void silent() {
    if (awaiting != Awaiting.ITEMS) {
      return;
    }
    long left =
        isPaused()
            ? limits.inactivity().toNanos()
            : heardAtNanos() + limits.inactivity().toNanos() - System.nanoTime();
    if (left > 0) {
      listenFor(left);
    } else {
      broken(new SilenceException(limits.inactivity()));
    }
  }

  private void signalled(TwoPartFrame frame) throws FrameException {
    var signal = StreamSignal.of(frame.header());
    if (listener instanceof InputListener input
        && (signal == StreamSignal.STOP || signal == StreamSignal.KILL)) {
      awaiting = Awaiting.NOTHING;
      cancelTimer();
      Sockets.close(channel());
      input.signalled(signal);
      return;
    }
    if (signal != StreamSignal.SENTINEL || frame.body().isReadable()) {
      throw new FrameException("a peer sent a control frame that is not a plain sentinel");
    }
    awaiting = Awaiting.NOTHING;
    cancelTimer();
    Sockets.close(channel());
    listening().sentinel();
  }

  /**
   * Refuses a peer that breaks the protocol: a worker with an expected stream gets a kill signal,
   * any other peer is disconnected.
   */
  @Override
  protected void broken(Exception cause) {
    if (listener == null) {
      reset(channel());
      return;
    }
    writeSignal(StreamSignal.KILL);
    Sockets.close(channel());
    breakOff(cause);
  }

  @Override
  protected void endOfInput() {
    breakOff(failure);
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

  private void reset(Channel at) {
    awaiting = Awaiting.NOTHING;
    at.config().setOption(ChannelOption.SO_LINGER, 0);
    Sockets.close(at);
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
    var to = channel();
    if (to.isActive()) {
      to.writeAndFlush(TwoPartFrame.ofHeader(to.alloc(), signal.header()))
          .addListener(ChannelFutureListener.CLOSE_ON_FAILURE);
    }
  }
}
