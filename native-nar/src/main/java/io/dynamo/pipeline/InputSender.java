package io.dynamo.pipeline;

import io.netty.channel.Channel;
import io.netty.channel.ChannelFutureListener;
import io.netty.channel.ChannelHandlerContext;
import io.netty.channel.ChannelInboundHandlerAdapter;
import io.netty.channel.ChannelOption;
import io.netty.util.ReferenceCountUtil;
import java.nio.ByteBuffer;

/**
 * An accepted connection that carries a request's input to the worker. The worker sends nothing
 * after the stream's name, so the end of its side has no meaning. State belongs to the event loop.
 */
final class InputSender extends ChannelInboundHandlerAdapter implements SentInput, Outbox.Owner {
  private static final byte[] NONE = {};

  private final Channel channel;
  private final InputSource source;
  private final Outbox outbox;
  private boolean finished;

  InputSender(Channel channel, InputSource source) {
    this.channel = channel;
    this.source = source;
    outbox = new Outbox(channel, this);
  }

  @Override
  public void channelRead(ChannelHandlerContext ctx, Object message) {
    ReferenceCountUtil.release(message);
    Sockets.close(channel); // the worker must send nothing more
  }

  @Override
  public void exceptionCaught(ChannelHandlerContext ctx, Throwable cause) {
    Sockets.close(channel);
  }

  @Override
  public void channelInactive(ChannelHandlerContext ctx) {
    finished = true;
    source.closed();
  }

  @Override
  public void send(ByteBuffer item) {
    outbox.item(NONE, item, NONE);
  }

  @Override
  public void finish() {
    outbox.then(() -> last(StreamSignal.SENTINEL));
  }

  @Override
  public void signal(StreamSignal signal) {
    outbox.then(
        () -> {
          last(signal);
          var waiting = channel.unsafe().outboundBuffer();
          if (signal == StreamSignal.KILL
              && waiting != null
              && waiting.totalPendingWriteBytes() > 0) { // a worker that does not read
            channel.config().setOption(ChannelOption.SO_LINGER, 0);
            Sockets.close(channel);
          }
        });
  }

  private void last(StreamSignal signal) {
    if (!finished) {
      finished = true;
      channel
          .writeAndFlush(TwoPartFrame.ofHeader(channel.alloc(), signal.header()))
          .addListener(ChannelFutureListener.CLOSE);
    }
  }

  @Override
  public boolean isOpen() {
    return !finished;
  }

  @Override
  public void written(int items) {
    source.written(items);
  }

  @Override
  public void failed() {
    Sockets.close(channel);
  }
}
