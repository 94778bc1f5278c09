package io.dynamo.pipeline;

import io.netty.buffer.ByteBuf;
import io.netty.buffer.ByteBufAllocator;
import io.netty.channel.Channel;
import io.netty.channel.ChannelFutureListener;
import io.netty.channel.ChannelHandlerContext;
import io.netty.channel.ChannelInboundHandlerAdapter;
import io.netty.channel.ChannelOption;
import io.netty.util.ReferenceCountUtil;

/**
 * An accepted connection that carries a request's input to the worker. The worker has said all when
 * it has named the stream, so the end of its side means nothing. State belongs to the event loop.
 */
final class InputSender extends ChannelInboundHandlerAdapter implements SentInput {
  private final Channel channel;
  private final InputSource source;
  private boolean finished;

  InputSender(Channel channel, InputSource source) {
    this.channel = channel;
    this.source = source;
  }

  @Override
  public void channelRead(ChannelHandlerContext ctx, Object message) {
    ReferenceCountUtil.release(message);
    Sockets.close(channel); // speaks out of turn
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
  public ByteBufAllocator allocator() {
    return channel.alloc();
  }

  @Override
  public void send(ByteBuf frame, Runnable written) {
    inOrder(
        () -> {
          if (finished) {
            frame.release();
            return;
          }
          channel
              .writeAndFlush(frame)
              .addListener(
                  done -> {
                    if (done.isSuccess()) {
                      written.run();
                    } else {
                      Sockets.close(channel);
                    }
                  });
        });
  }

  @Override
  public void finish() {
    inOrder(() -> last(StreamSignal.SENTINEL));
  }

  @Override
  public void signal(StreamSignal signal) {
    inOrder(
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

  /** Through the loop's queue also from the loop itself, which else would overtake others. */
  private void inOrder(Runnable task) {
    channel.eventLoop().execute(task);
  }
}
