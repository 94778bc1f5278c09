package io.dynamo.pipeline.http2;

import io.dynamo.pipeline.ArrivalCharge;
import io.dynamo.pipeline.CallHomeListener;
import io.dynamo.pipeline.FrameException;
import io.dynamo.pipeline.Outbox;
import io.dynamo.pipeline.SentStream;
import io.dynamo.pipeline.Sockets;
import io.dynamo.pipeline.StreamSignal;
import io.dynamo.pipeline.TwoPartFrame;
import io.netty.buffer.ByteBuf;
import io.netty.buffer.ByteBufAllocator;
import io.netty.buffer.ByteBufUtil;
import io.netty.buffer.Unpooled;
import io.netty.channel.Channel;
import io.netty.channel.ChannelHandlerContext;
import io.netty.channel.ChannelInboundHandlerAdapter;
import io.netty.handler.codec.ByteToMessageDecoder;
import io.netty.handler.codec.http2.DefaultHttp2DataFrame;
import io.netty.handler.codec.http2.DefaultHttp2HeadersFrame;
import io.netty.handler.codec.http2.Http2DataFrame;
import io.netty.handler.codec.http2.Http2HeadersFrame;
import io.netty.handler.codec.http2.Http2ResetFrame;
import io.netty.util.ReferenceCountUtil;
import io.netty.util.concurrent.Future;
import java.nio.ByteBuffer;
import java.nio.channels.ClosedChannelException;
import java.nio.charset.StandardCharsets;
import java.util.Map;
import java.util.concurrent.TimeUnit;
import org.jspecify.annotations.Nullable;

/**
 * One stream at the worker: reads the request, then writes the answer while it listens for signals.
 * State belongs to the stream's event loop. A reset by the requester is a kill.
 */
final class ServedStream extends ChannelInboundHandlerAdapter
    implements Http2Exchange, SentStream, Outbox.Owner {
  private static final int MAX_SIGNAL_BYTES = 1024;

  private static final String OVERLOADED = "Server overloaded: worker at capacity";

  private enum Phase {
    HEAD,
    BODY,
    HANDLED, // the handler decides
    ANSWERING,
    OVER
  }

  private final Http2Handler handler;
  private final Http2Bounds bounds;
  private final Channel channel;
  private final Outbox outbox;
  private final TakeStall stall;
  private Phase phase = Phase.HEAD;
  private String path = "";
  private Map<String, String> headers = Map.of(); // until the request is handled
  private int headBytes; // of path and headers
  private ByteBuf pending = Unpooled.EMPTY_BUFFER;
  private @Nullable CallHomeListener listener; // set when accepted
  private final ArrivalCharge charge; // of an incomplete request
  private @Nullable Future<?> timer; // bounds the request, then the requester's end
  private boolean requesterEnded;

  ServedStream(Channel channel, DataFrames frames, Http2Handler handler, Http2Bounds bounds) {
    this.channel = channel;
    this.handler = handler;
    this.bounds = bounds;
    charge = new ArrivalCharge(handler);
    outbox = new Outbox(channel, this);
    stall = new TakeStall(frames, channel.eventLoop(), bounds.writeStall(), this::stalled);
  }

  @Override
  public void channelRead(ChannelHandlerContext ctx, Object message) {
    switch (message) {
      case Http2HeadersFrame head -> {
        if (phase == Phase.HEAD) {
          begin(head);
        }
        requesterEnded |= head.isEndStream();
      }
      case Http2DataFrame data -> {
        requesterEnded |= data.isEndStream();
        read(data.content());
      }
      default -> ReferenceCountUtil.release(message);
    }
    if (requesterEnded && phase == Phase.BODY) {
      refuseNow(400, "Read error: the request ends before its frame");
    }
  }

  private void begin(Http2HeadersFrame frame) {
    var head = frame.headers();
    phase = Phase.BODY;
    if (head.method() == null || !"POST".contentEquals(head.method()) || head.path() == null) {
      refuseNow(405, "Read error: requests are sent with POST");
      return;
    }
    path = head.path().toString();
    headers = Heads.own(head);
    headBytes = Heads.bytes(path, headers);
    if (charge.set(headBytes)) {
      timer = closeAfter(bounds.start().toNanos());
    } else {
      refuseNow(503, OVERLOADED);
    }
  }

  private Future<?> closeAfter(long nanos) {
    return channel.eventLoop().schedule(() -> Sockets.close(channel), nanos, TimeUnit.NANOSECONDS);
  }

  private void read(ByteBuf bytes) {
    if (phase == Phase.OVER) {
      bytes.release();
      return;
    }
    pending = ByteToMessageDecoder.MERGE_CUMULATOR.cumulate(channel.alloc(), pending, bytes);
    try {
      if (phase == Phase.BODY) {
        readRequest();
      }
      if (phase == Phase.ANSWERING) {
        readSignals();
      } else if (phase == Phase.HANDLED && pending.readableBytes() > MAX_SIGNAL_BYTES) {
        throw new FrameException("more than a signal follows the request");
      }
    } catch (FrameException e) {
      if (phase == Phase.BODY) {
        refuseNow(413, "Read error: message too large: " + e.getMessage());
      } else {
        kill();
        phase = Phase.OVER; // also while the handler decides: nothing more is read
        Sockets.close(channel);
      }
    }
    if (!pending.isReadable() || phase == Phase.OVER) {
      drop();
    }
  }

  private void readRequest() throws FrameException {
    var frame = TwoPartFrame.read(pending, Http2Bounds.MAX_CONTROL_BYTES, bounds.maxFrameBytes());
    if (frame == null) {
      if (!charge.set(headBytes + pending.readableBytes())) {
        refuseNow(503, OVERLOADED);
      }
      return;
    }
    charge.release();
    byte[] body;
    try {
      body = ByteBufUtil.getBytes(frame.body());
    } finally {
      frame.release();
    }
    cancelTimer();
    phase = Phase.HANDLED;
    var request = new Http2Request(path, headers, frame.header(), body);
    headers = Map.of();
    handler.handle(request, this);
  }

  private void readSignals() throws FrameException {
    while (phase == Phase.ANSWERING) {
      var frame = TwoPartFrame.read(pending, MAX_SIGNAL_BYTES, MAX_SIGNAL_BYTES);
      if (frame == null) {
        return;
      }
      frame.release();
      if (StreamSignal.of(frame.header()) != StreamSignal.STOP) {
        kill(); // on request, or by a peer that breaks the protocol
        return;
      }
      if (listener != null) {
        listener.stop();
      }
    }
  }

  @Override
  public void userEventTriggered(ChannelHandlerContext ctx, Object event) {
    if (event instanceof Http2ResetFrame) {
      kill();
    }
    ctx.fireUserEventTriggered(event);
  }

  @Override
  public void exceptionCaught(ChannelHandlerContext ctx, Throwable cause) {
    kill();
    Sockets.close(ctx.channel());
  }

  @Override
  public void channelInactive(ChannelHandlerContext ctx) {
    cancelTimer();
    stall.stop();
    kill();
    phase = Phase.OVER;
    charge.release();
    drop();
    if (listener != null) {
      listener.closed();
    }
  }

  private void stalled() {
    if (listener != null) {
      listener.stalled();
    }
    kill();
    Sockets.close(channel); // also an answer that is finished and not taken
  }

  private void kill() {
    if (phase == Phase.ANSWERING) {
      phase = Phase.OVER;
      if (listener != null) {
        listener.kill();
      }
      Sockets.close(channel);
    }
  }

  private void drop() {
    pending.release();
    pending = Unpooled.EMPTY_BUFFER;
  }

  private void cancelTimer() {
    if (timer != null) {
      timer.cancel(false);
    }
  }

  // Http2Exchange

  @Override
  public void accept(CallHomeListener accepted) {
    execute(
        () -> {
          if (phase != Phase.HANDLED || !channel.isActive()) {
            accepted.failed(new ClosedChannelException());
            return;
          }
          phase = Phase.ANSWERING;
          listener = accepted;
          stall.start();
          var _ = channel.writeAndFlush(new DefaultHttp2HeadersFrame(Heads.accepted()));
          accepted.connected(this);
          try {
            readSignals();
          } catch (FrameException e) {
            kill();
          }
        });
  }

  @Override
  public void refuse(int status, String text) {
    execute(
        () -> {
          if (phase == Phase.HANDLED) {
            refuseNow(status, text);
          }
        });
  }

  private void refuseNow(int status, String text) {
    cancelTimer();
    phase = Phase.OVER;
    charge.release();
    var body = Unpooled.copiedBuffer(text, StandardCharsets.UTF_8);
    var _ = channel.write(new DefaultHttp2HeadersFrame(Heads.refused(status)));
    var wait = closeAfter(bounds.finTimeout().toNanos()); // a requester may open no window
    timer = wait;
    channel
        .writeAndFlush(new DefaultHttp2DataFrame(body, true))
        .addListener(
            _ -> {
              if (requesterEnded) {
                wait.cancel(false);
              }
            });
  }

  private void awaitRequesterEnd() {
    if (requesterEnded) {
      return; // both halves end with what was written
    }
    timer = closeAfter(bounds.finTimeout().toNanos());
  }

  // SentStream

  @Override
  public ByteBufAllocator allocator() {
    return channel.alloc();
  }

  @Override
  public void sendHeader(byte[] header) {
    outbox.header(header);
  }

  @Override
  public void send(byte[] head, ByteBuffer item, byte[] tail) {
    outbox.item(head, item, tail);
  }

  @Override
  public void finish(ByteBuf last, Runnable written) {
    outbox.then(
        () -> {
          if (phase != Phase.ANSWERING) {
            last.release();
            written.run();
            return;
          }
          phase = Phase.OVER;
          var _ = channel.write(last);
          channel
              .writeAndFlush(new DefaultHttp2HeadersFrame(Heads.complete(), true))
              .addListener(
                  done -> {
                    stall.stop();
                    written.run();
                    awaitRequesterEnd();
                  });
        });
  }

  @Override
  public void abort() {
    outbox.then(
        () -> {
          phase = Phase.OVER;
          Sockets.close(channel);
        });
  }

  @Override
  public void execute(Runnable task) {
    var loop = channel.eventLoop();
    if (loop.inEventLoop()) {
      task.run();
    } else {
      loop.execute(task);
    }
  }

  // Outbox.Owner

  @Override
  public boolean isOpen() {
    return phase == Phase.ANSWERING;
  }

  @Override
  public void written(int items) {
    if (items > 0 && listener != null) {
      listener.written(items);
    }
  }

  @Override
  public void failed() {
    kill();
  }
}
