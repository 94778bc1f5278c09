package io.dynamo.pipeline.http2;

import io.netty.buffer.ByteBuf;
import io.netty.channel.ChannelFuture;
import io.netty.channel.ChannelFutureListener;
import io.netty.channel.ChannelHandlerContext;
import io.netty.channel.ChannelOutboundHandlerAdapter;
import io.netty.channel.ChannelPromise;
import io.netty.handler.codec.http2.DefaultHttp2DataFrame;

/**
 * Writes buffers as DATA frames of one stream and counts those that the peer's window has taken.
 * Belongs to the stream's event loop.
 */
final class DataFrames extends ChannelOutboundHandlerAdapter implements ChannelFutureListener {
  private static final int MAX_BYTES = 16 * 1024;

  private long written;
  private long taken;

  @Override
  public void write(ChannelHandlerContext ctx, Object message, ChannelPromise promise) {
    if (!(message instanceof ByteBuf bytes)) {
      var _ = ctx.write(message, promise);
      return;
    }
    while (bytes.readableBytes() > MAX_BYTES) {
      count(ctx.write(new DefaultHttp2DataFrame(bytes.readRetainedSlice(MAX_BYTES))));
    }
    count(ctx.write(new DefaultHttp2DataFrame(bytes), promise.unvoid()));
  }

  private void count(ChannelFuture write) {
    written++;
    write.addListener(this);
  }

  @Override
  public void operationComplete(ChannelFuture write) {
    taken++;
  }

  /** Whether frames wait for the peer to take them. */
  boolean isWaiting() {
    return taken < written;
  }

  /** Returns the number of frames that were taken, or failed. */
  long taken() {
    return taken;
  }
}
