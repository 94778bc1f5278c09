package io.dynamo.pipeline.http2;

import io.dynamo.pipeline.FrameException;
import io.dynamo.pipeline.FrameReceiver;
import io.dynamo.pipeline.Sockets;
import io.dynamo.pipeline.StreamListener;
import io.dynamo.pipeline.StreamSignal;
import io.dynamo.pipeline.TwoPartFrame;
import io.netty.channel.Channel;
import io.netty.channel.ChannelHandlerContext;
import io.netty.handler.codec.http2.DefaultHttp2DataFrame;
import io.netty.handler.codec.http2.DefaultHttp2HeadersFrame;
import io.netty.handler.codec.http2.Http2DataFrame;
import io.netty.handler.codec.http2.Http2Headers;
import io.netty.handler.codec.http2.Http2HeadersFrame;
import io.netty.util.ReferenceCountUtil;
import java.io.IOException;
import java.nio.channels.ClosedChannelException;
import java.nio.charset.StandardCharsets;
import java.util.concurrent.TimeUnit;
import org.jspecify.annotations.Nullable;

/**
 * One stream at the requester: writes the request, then reads the answer. Runs on the stream's
 * event loop.
 */
final class CalledStream extends FrameReceiver {
  private static final int MAX_REFUSAL_BYTES = 64 * 1024;

  private final Http2Bounds bounds;
  private final Http2Client.Outcome outcome;
  private final Runnable onSilence;
  private @Nullable Http2Headers refused; // the head of a response that is no acceptance
  private boolean complete; // the trailers have said that nothing is missing

  /**
   * @param answer receives the answer; null for a request whose outcome alone matters
   * @param onSilence called before the outcome when no head of a response has come in time
   */
  CalledStream(
      Channel channel,
      Http2Bounds bounds,
      @Nullable StreamListener answer,
      Http2Client.Outcome outcome,
      Runnable onSilence) {
    super(Awaiting.START, bounds.maxFrameBytes(), false);
    attach(channel);
    this.bounds = bounds;
    this.outcome = outcome;
    this.onSilence = onSilence;
    listener = answer;
    timer =
        channel.eventLoop().schedule(this::late, bounds.start().toNanos(), TimeUnit.NANOSECONDS);
  }

  /** Writes the request; the stream stays open for signals. */
  void send(Http2Headers head, byte[] control, byte[] body) {
    var to = channel();
    to.write(new DefaultHttp2HeadersFrame(head))
        .addListener(
            written -> {
              if (!written.isSuccess()) {
                failure = written.cause();
                Sockets.close(to);
              }
            });
    var _ =
        to.writeAndFlush(
            TwoPartFrame.prefix(to.alloc(), control.length, body.length)
                .writeBytes(control)
                .writeBytes(body));
  }

  private void late() {
    if (awaiting == Awaiting.START) {
      awaiting = Awaiting.NOTHING;
      onSilence.run();
      Sockets.close(channel());
      outcome.late(bounds.start());
    }
  }

  @Override
  public void channelRead(ChannelHandlerContext ctx, Object message) {
    countRead();
    switch (message) {
      case Http2HeadersFrame head -> {
        if (awaiting == Awaiting.START && refused == null) {
          begin(head.headers());
        } else if (head.isEndStream()) {
          complete = Heads.isComplete(head.headers());
        }
        if (head.isEndStream()) {
          endInput();
        }
      }
      case Http2DataFrame data -> {
        if (data.isEndStream()) {
          endInput();
        }
        add(data.content());
      }
      default -> ReferenceCountUtil.release(message);
    }
    cut();
  }

  private void begin(Http2Headers head) {
    var status = head.status();
    if (status == null || !Heads.OK.contentEquals(status)) {
      refused = head;
      return;
    }
    cancelTimer();
    awaiting = Awaiting.PROLOGUE;
    outcome.accepted();
    if (listener == null) {
      close();
    } else {
      listener.connected(this);
    }
  }

  @Override
  protected boolean readControl() throws FrameException {
    if (awaiting == Awaiting.START) {
      readRefusal();
      return false;
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

  private void readRefusal() throws FrameException {
    if (pending.readableBytes() > MAX_REFUSAL_BYTES) {
      throw new FrameException("a refusal of more than " + MAX_REFUSAL_BYTES + " bytes");
    }
    var head = refused;
    if (!hasInputEnded() || head == null) {
      return;
    }
    cancelTimer();
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

  @Override
  protected void endOfInput() {
    if (awaiting == Awaiting.NOTHING) {
      return;
    }
    if (complete && !pending.isReadable() && awaiting != Awaiting.START) {
      awaiting = Awaiting.NOTHING;
      finishHalf();
      listening().sentinel();
    } else {
      breakOff(failure);
      Sockets.close(channel()); // where the other side has ended its half only
    }
  }

  /** Ends this side's half, so that the stream is over on both sides. */
  private void finishHalf() {
    var half = channel();
    if (half.isActive()) {
      half.writeAndFlush(new DefaultHttp2DataFrame(true)).addListener(_ -> Sockets.close(half));
    }
  }

  @Override
  protected void broken(Exception cause) {
    breakOff(cause);
    Sockets.close(channel());
  }

  private void breakOff(@Nullable Throwable cause) {
    cancelTimer();
    var at = awaiting;
    awaiting = Awaiting.NOTHING;
    switch (at) {
      case START -> outcome.failed(cause == null ? new ClosedChannelException() : cause);
      case PROLOGUE, ITEMS -> listening().broken(cause);
      case NOTHING -> {}
    }
  }

  @Override
  public void exceptionCaught(ChannelHandlerContext ctx, Throwable cause) {
    failure = cause;
    Sockets.close(ctx.channel());
  }

  @Override
  public void channelInactive(ChannelHandlerContext ctx) {
    endInput();
    cancelTimer();
    cut();
  }

  @Override
  public void signal(StreamSignal signal) {
    onLoop(
        () -> {
          var to = channel();
          if (awaiting == Awaiting.NOTHING || !to.isActive()) {
            return;
          }
          if (signal == StreamSignal.KILL) {
            awaiting = Awaiting.NOTHING;
            Sockets.close(to); // a reset of the stream
          } else {
            var _ = to.writeAndFlush(TwoPartFrame.ofHeader(to.alloc(), signal.header()));
          }
        });
  }
}
