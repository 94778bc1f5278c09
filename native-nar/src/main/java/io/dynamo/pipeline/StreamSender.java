package io.dynamo.pipeline;

import io.netty.buffer.ByteBuf;
import io.netty.buffer.ByteBufAllocator;
import io.netty.buffer.Unpooled;
import io.netty.channel.Channel;
import io.netty.channel.ChannelHandlerContext;
import io.netty.channel.ChannelInboundHandlerAdapter;
import io.netty.channel.ChannelOption;
import io.netty.channel.socket.ChannelInputShutdownEvent;
import io.netty.handler.codec.ByteToMessageDecoder;
import io.netty.handler.ssl.SslHandshakeCompletionEvent;
import java.nio.ByteBuffer;
import java.nio.channels.ClosedChannelException;
import java.time.Duration;
import java.util.concurrent.TimeUnit;
import org.jspecify.annotations.Nullable;

/**
 * One dialled call-home connection. State belongs to its event loop. It counts as open once the
 * connection is made and, with TLS, the requester's identity is verified.
 */
final class StreamSender extends ChannelInboundHandlerAdapter implements SentStream, Outbox.Owner {
  private static final int MAX_SIGNAL_BYTES = 1024;

  private final Handshake handshake;
  private final CallHomeListener listener;
  private final Duration finTimeout;
  private final Duration writeStall;
  private final boolean secured;

  private @Nullable Channel channel; // written once, before the listener gets this
  private @Nullable Outbox outbox; // written once, too
  private @Nullable WriteStall stall; // set when the connection is open
  private @Nullable Throwable failure; // before the connection is open
  private ByteBuf pending = Unpooled.EMPTY_BUFFER;
  private boolean finished;
  private boolean peerGone;

  StreamSender(
      Handshake handshake,
      CallHomeListener listener,
      Duration finTimeout,
      Duration writeStall,
      boolean secured) {
    this.handshake = handshake;
    this.listener = listener;
    this.finTimeout = finTimeout;
    this.writeStall = writeStall;
    this.secured = secured;
  }

  @Override
  public void channelActive(ChannelHandlerContext ctx) {
    if (!secured) {
      stand(ctx);
    }
  }

  private void stand(ChannelHandlerContext ctx) {
    channel = ctx.channel();
    stall = new WriteStall(ctx.channel(), writeStall, this::stalled);
    stall.start();
    outbox = new Outbox(ctx.channel(), this);
    outbox.header(handshake.toJson()); // sent together with the listener's first frames
    listener.connected(this);
  }

  @Override
  public void channelRead(ChannelHandlerContext ctx, Object message) {
    pending =
        ByteToMessageDecoder.MERGE_CUMULATOR.cumulate(ctx.alloc(), pending, (ByteBuf) message);
    try {
      for (var frame = TwoPartFrame.read(pending, MAX_SIGNAL_BYTES, MAX_SIGNAL_BYTES);
          frame != null;
          frame = TwoPartFrame.read(pending, MAX_SIGNAL_BYTES, MAX_SIGNAL_BYTES)) {
        frame.release();
        receive(frame);
      }
    } catch (FrameException e) {
      killed();
    }
    if (!pending.isReadable() || finished) {
      drop();
    }
  }

  private void receive(TwoPartFrame frame) {
    if (finished) {
      return;
    }
    var signal = StreamSignal.of(frame.header());
    if (signal == StreamSignal.STOP) {
      listener.stop();
    } else {
      killed(); // on request, or by a peer that breaks the protocol
    }
  }

  /**
   * Aborts the stream: a requester that reads nothing must not hold the engine, nor the bytes that
   * wait for it.
   */
  private void stalled() {
    listener.stalled();
    var at = open();
    at.config().setOption(ChannelOption.SO_LINGER, 0); // the waiting bytes will never be read
    killed();
    Sockets.close(at);
  }

  private void killed() {
    if (!finished) {
      listener.kill();
      abortNow();
    }
  }

  @Override
  public void userEventTriggered(ChannelHandlerContext ctx, Object event) {
    if (event instanceof SslHandshakeCompletionEvent shaken) {
      if (shaken.isSuccess()) {
        stand(ctx);
      } else {
        failure = shaken.cause();
        Sockets.close(ctx.channel());
      }
    } else if (event instanceof ChannelInputShutdownEvent && channel == null) {
      Sockets.close(ctx.channel());
    } else if (event instanceof ChannelInputShutdownEvent) {
      peerGone = true;
      if (finished) {
        Sockets.close(ctx.channel());
      } else {
        listener.stop();
      }
    }
    ctx.fireUserEventTriggered(event);
  }

  @Override
  public void exceptionCaught(ChannelHandlerContext ctx, Throwable cause) {
    if (channel == null) {
      failure = failure == null ? cause : failure;
    } else {
      killed();
    }
    Sockets.close(ctx.channel());
  }

  @Override
  public void channelInactive(ChannelHandlerContext ctx) {
    if (stall == null) {
      listener.failed(failure == null ? new ClosedChannelException() : failure);
      return;
    }
    stall.stop();
    if (!finished) {
      finished = true;
      listener.kill();
    }
    drop();
    listener.closed();
  }

  private void drop() {
    pending.release();
    pending = Unpooled.EMPTY_BUFFER;
  }

  @Override
  public ByteBufAllocator allocator() {
    return open().alloc();
  }

  @Override
  public void sendHeader(byte[] header) {
    outbox().header(header);
  }

  @Override
  public void send(byte[] head, ByteBuffer item, byte[] tail) {
    outbox().item(head, item, tail);
  }

  @Override
  public void finish(ByteBuf last, Runnable written) {
    outbox()
        .then(
            () -> {
              if (finished) {
                last.release();
                written.run();
                return;
              }
              finished = true;
              var to = open();
              Sockets.write(to, last);
              to.writeAndFlush(TwoPartFrame.ofHeader(to.alloc(), StreamSignal.SENTINEL.header()))
                  .addListener(
                      done -> {
                        countWrite();
                        written.run();
                        if (peerGone || !done.isSuccess()) {
                          Sockets.close(to);
                        } else {
                          awaitFin(to);
                        }
                      });
            });
  }

  @Override
  public boolean isOpen() {
    return !finished;
  }

  @Override
  public void written(int items) {
    countWrite();
    if (items > 0) {
      listener.written(items);
    }
  }

  @Override
  public void failed() {
    killed();
  }

  /**
   * Closes the connection after a bounded time without the requester's end. Counts from the last
   * byte written: a requester that still reads is not late.
   */
  private void awaitFin(Channel from) {
    var timer =
        from.eventLoop()
            .schedule(() -> Sockets.close(from), finTimeout.toNanos(), TimeUnit.NANOSECONDS);
    from.closeFuture().addListener(closed -> timer.cancel(false));
  }

  private void countWrite() {
    if (stall != null) {
      stall.written();
    }
  }

  @Override
  public void abort() {
    outbox().then(this::abortNow);
  }

  private void abortNow() {
    finished = true;
    Sockets.close(open());
  }

  @Override
  public void execute(Runnable task) {
    var loop = open().eventLoop();
    if (loop.inEventLoop()) {
      task.run();
    } else {
      loop.execute(task);
    }
  }

  private Outbox outbox() {
    if (outbox == null) {
      throw new IllegalStateException("not connected");
    }
    return outbox;
  }

  private Channel open() {
    if (channel == null) {
      throw new IllegalStateException("not connected");
    }
    return channel;
  }
}
