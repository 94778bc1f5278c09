package io.dynamo.pipeline.http2;

import io.dynamo.pipeline.FrameException;
import io.dynamo.pipeline.ReceivedStream;
import io.dynamo.pipeline.Sockets;
import io.dynamo.pipeline.StreamListener;
import io.dynamo.pipeline.StreamSignal;
import io.dynamo.pipeline.TwoPartFrame;
import io.netty.buffer.ByteBuf;
import io.netty.buffer.Unpooled;
import io.netty.channel.Channel;
import io.netty.channel.ChannelHandlerContext;
import io.netty.channel.ChannelInboundHandlerAdapter;
import io.netty.handler.codec.ByteToMessageDecoder;
import io.netty.handler.codec.http2.DefaultHttp2DataFrame;
import io.netty.handler.codec.http2.DefaultHttp2HeadersFrame;
import io.netty.handler.codec.http2.Http2DataFrame;
import io.netty.handler.codec.http2.Http2Headers;
import io.netty.handler.codec.http2.Http2HeadersFrame;
import io.netty.handler.codec.http2.Http2ResetFrame;
import io.netty.util.ReferenceCountUtil;
import io.netty.util.concurrent.Future;
import java.io.IOException;
import java.nio.channels.ClosedChannelException;
import java.nio.charset.StandardCharsets;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.atomic.AtomicInteger;
import org.jspecify.annotations.Nullable;

/**
 * One stream at the requester: writes the request, then reads the answer. Runs on the stream's
 * event loop. It cuts frames itself, because a pause must hold back the frames that were read
 * together, and an end of the stream must not lose them.
 */
final class CalledStream extends ChannelInboundHandlerAdapter implements ReceivedStream {
  private static final int MAX_HEADER_BYTES = 64 * 1024;
  private static final int MAX_REFUSAL_BYTES = 64 * 1024;

  private enum Awaiting {
    HEAD,
    REFUSAL,
    PROLOGUE,
    ITEMS,
    NOTHING
  }

  private final Channel channel;
  private final Http2Bounds bounds;
  private final @Nullable StreamListener answer;
  private final Http2Client.Outcome outcome;
  private final Future<?> timer;
  private final AtomicInteger reads = new AtomicInteger(); // written on the event loop, as the next
  private final AtomicInteger items = new AtomicInteger();
  private volatile boolean paused; // written on the event loop
  private Awaiting awaiting = Awaiting.HEAD;
  private @Nullable Http2Headers refused; // the head of a response that is no acceptance
  private ByteBuf pending = Unpooled.EMPTY_BUFFER;
  private boolean cutting; // inside cut(): a listener may resume from there
  private boolean ended; // no more comes
  private boolean complete; // and that is the end of the answer
  private @Nullable Throwable failure;

  /**
   * @param answer receives the answer; null for a request whose outcome alone matters
   */
  CalledStream(
      Channel channel,
      Http2Bounds bounds,
      @Nullable StreamListener answer,
      Http2Client.Outcome outcome) {
    this.channel = channel;
    this.bounds = bounds;
    this.answer = answer;
    this.outcome = outcome;
    timer =
        channel.eventLoop().schedule(this::late, bounds.start().toNanos(), TimeUnit.NANOSECONDS);
  }

  /** Writes the request; the stream stays open for signals. */
  void send(Http2Headers head, byte[] control, byte[] body) {
    channel
        .write(new DefaultHttp2HeadersFrame(head))
        .addListener(
            written -> {
              if (!written.isSuccess()) {
                failure = written.cause();
                Sockets.close(channel);
              }
            });
    var _ =
        channel.writeAndFlush(
            TwoPartFrame.prefix(channel.alloc(), control.length, body.length)
                .writeBytes(control)
                .writeBytes(body));
  }

  private void late() {
    if (awaiting == Awaiting.HEAD || awaiting == Awaiting.REFUSAL) {
      awaiting = Awaiting.NOTHING;
      Sockets.close(channel);
      outcome.late(bounds.start());
    }
  }

  @Override
  public void channelRead(ChannelHandlerContext ctx, Object message) {
    reads.setOpaque(reads.getPlain() + 1);
    switch (message) {
      case Http2HeadersFrame head -> {
        if (awaiting == Awaiting.HEAD) {
          begin(head.headers());
        } else if (head.isEndStream()) {
          complete = Heads.isComplete(head.headers());
        }
        ended |= head.isEndStream();
      }
      case Http2DataFrame data -> {
        ended |= data.isEndStream();
        add(data.content());
      }
      default -> ReferenceCountUtil.release(message);
    }
    cut();
  }

  private void begin(Http2Headers head) {
    var status = head.status();
    if (status != null && Heads.OK.contentEquals(status)) {
      timer.cancel(false);
      awaiting = Awaiting.PROLOGUE;
      outcome.accepted();
      if (answer == null) {
        close();
      } else {
        answer.connected(this);
      }
    } else {
      refused = head;
      awaiting = Awaiting.REFUSAL;
    }
  }

  private void add(ByteBuf bytes) {
    if (awaiting == Awaiting.NOTHING) {
      bytes.release();
    } else {
      pending = ByteToMessageDecoder.MERGE_CUMULATOR.cumulate(channel.alloc(), pending, bytes);
    }
  }

  private void cut() {
    if (cutting) {
      return;
    }
    cutting = true;
    try {
      if (awaiting == Awaiting.REFUSAL) {
        readRefusal();
      }
      while (!paused && readsFrames() && cutOne()) {
        // the next one
      }
    } catch (FrameException | RuntimeException e) { // later bytes must not be taken for the answer
      breakOff(e);
      Sockets.close(channel);
    } finally {
      cutting = false;
    }
    if (ended && !paused) {
      endAnswer();
    }
    releaseIfIdle();
  }

  private boolean readsFrames() {
    return awaiting == Awaiting.PROLOGUE || awaiting == Awaiting.ITEMS;
  }

  /** Returns whether there was a whole frame. */
  private boolean cutOne() throws FrameException {
    int bodyBytes =
        awaiting == Awaiting.ITEMS ? TwoPartFrame.wholeBody(pending, bounds.maxFrameBytes()) : -1;
    if (bodyBytes >= 0) {
      itemInPlace(bodyBytes);
      return true;
    }
    int most =
        awaiting == Awaiting.ITEMS
            ? bounds.maxFrameBytes()
            : Math.min(MAX_HEADER_BYTES, bounds.maxFrameBytes());
    var frame = TwoPartFrame.read(pending, MAX_HEADER_BYTES, most);
    if (frame == null) {
      return false;
    }
    frame.release();
    if (awaiting == Awaiting.ITEMS) {
      throw new FrameException("a worker sent a control frame inside its answer");
    }
    awaiting = Awaiting.ITEMS;
    listening().prologue(frame.header());
    return true;
  }

  /** Passes the next body to the listener in place, so that an item needs no buffer of its own. */
  private void itemInPlace(int bodyBytes) {
    items.setOpaque(items.getPlain() + 1);
    var in = pending;
    int from = in.readerIndex() + TwoPartFrame.PREFIX_BYTES;
    if (bodyBytes == 0) {
      in.readerIndex(from);
      return;
    }
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
      channel.config().setAutoRead(false);
    }
  }

  private void readRefusal() throws FrameException {
    if (pending.readableBytes() > MAX_REFUSAL_BYTES) {
      throw new FrameException("a refusal of more than " + MAX_REFUSAL_BYTES + " bytes");
    }
    var head = refused;
    if (!ended || head == null) {
      return;
    }
    timer.cancel(false);
    awaiting = Awaiting.NOTHING;
    var text = pending.toString(StandardCharsets.UTF_8);
    finishHalf();
    if (Heads.isRefusal(head)) {
      outcome.refused(text);
    } else {
      outcome.failed(
          new IOException("something before the worker answered with status " + head.status()));
    }
  }

  /** Handles the end of the stream, once all that came before it has been passed on. */
  private void endAnswer() {
    if (awaiting == Awaiting.NOTHING) {
      return;
    }
    if (complete && !pending.isReadable()) {
      awaiting = Awaiting.NOTHING;
      finishHalf();
      listening().sentinel();
    } else {
      breakOff(failure);
    }
  }

  /** Ends this side's half, so that the stream is over on both sides. */
  private void finishHalf() {
    if (channel.isActive()) {
      channel
          .writeAndFlush(new DefaultHttp2DataFrame(true))
          .addListener(_ -> Sockets.close(channel));
    }
  }

  private void breakOff(@Nullable Throwable cause) {
    timer.cancel(false);
    var at = awaiting;
    awaiting = Awaiting.NOTHING;
    switch (at) {
      case HEAD, REFUSAL -> outcome.failed(cause == null ? new ClosedChannelException() : cause);
      case PROLOGUE, ITEMS -> listening().broken(cause);
      case NOTHING -> {}
    }
  }

  @Override
  public void userEventTriggered(ChannelHandlerContext ctx, Object event) {
    if (event instanceof Http2ResetFrame) {
      ended = true;
      cut();
    }
    ctx.fireUserEventTriggered(event);
  }

  @Override
  public void exceptionCaught(ChannelHandlerContext ctx, Throwable cause) {
    failure = cause;
    Sockets.close(ctx.channel());
  }

  @Override
  public void channelInactive(ChannelHandlerContext ctx) {
    ended = true;
    timer.cancel(false);
    cut();
  }

  private void releaseIfIdle() {
    if (awaiting == Awaiting.NOTHING || !pending.isReadable()) {
      pending.release();
      pending = Unpooled.EMPTY_BUFFER;
    } else if (pending.refCnt() == 1) {
      pending.discardSomeReadBytes(); // chunks that end inside a frame would pile up
    }
  }

  private StreamListener listening() {
    if (answer == null) {
      throw new IllegalStateException("nobody reads this answer");
    }
    return answer;
  }

  // ReceivedStream

  @Override
  public void signal(StreamSignal signal) {
    onLoop(
        () -> {
          if (awaiting == Awaiting.NOTHING || !channel.isActive()) {
            return;
          }
          if (signal == StreamSignal.KILL) {
            awaiting = Awaiting.NOTHING;
            Sockets.close(channel); // a reset of the stream
          } else {
            var _ = channel.writeAndFlush(TwoPartFrame.ofHeader(channel.alloc(), signal.header()));
          }
        });
  }

  @Override
  public void resume() {
    onLoop(
        () -> {
          if (paused) {
            paused = false;
            cut();
            if (!paused) {
              channel.config().setAutoRead(true);
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
          paused = false;
          timer.cancel(false);
          Sockets.close(channel);
          if (!cutting) {
            releaseIfIdle();
          }
        });
  }

  private void onLoop(Runnable task) {
    var loop = channel.eventLoop();
    if (loop.inEventLoop()) {
      task.run();
    } else {
      loop.execute(task);
    }
  }
}
