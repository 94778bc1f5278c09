package io.dynamo.pipeline;

import io.netty.channel.ChannelHandlerContext;
import io.netty.channel.ChannelInboundHandlerAdapter;
import io.netty.channel.socket.DuplexChannel;
import io.netty.handler.ssl.SslHandshakeCompletionEvent;
import java.nio.channels.ClosedChannelException;
import org.jspecify.annotations.Nullable;

/**
 * Sends the name of the requested input on a dialled connection, then replaces itself by the
 * input's reader. Runs on its event loop.
 */
final class InputCaller extends ChannelInboundHandlerAdapter {
  private final Handshake handshake;
  private final InputListener listener;
  private final StreamLimits limits;
  private final boolean secured;
  private @Nullable Throwable failure;

  InputCaller(Handshake handshake, InputListener listener, StreamLimits limits, boolean secured) {
    this.handshake = handshake;
    this.listener = listener;
    this.limits = limits;
    this.secured = secured;
  }

  @Override
  public void channelActive(ChannelHandlerContext ctx) {
    if (!secured) {
      call(ctx);
    }
  }

  @Override
  public void userEventTriggered(ChannelHandlerContext ctx, Object event) {
    if (event instanceof SslHandshakeCompletionEvent shaken) {
      if (shaken.isSuccess()) {
        call(ctx);
      } else {
        failure = shaken.cause();
        Sockets.close(ctx.channel());
      }
    }
  }

  private void call(ChannelHandlerContext ctx) {
    var channel = ctx.channel();
    channel
        .writeAndFlush(TwoPartFrame.ofHeader(ctx.alloc(), handshake.toJson()))
        .addListener(
            said -> {
              if (!said.isSuccess()) {
                Sockets.close(channel);
              } else if (!secured && channel instanceof DuplexChannel duplex) {
                var _ = duplex.shutdownOutput();
              }
            });
    ctx.pipeline().replace(this, "input", new StreamReceiver(listener, limits));
  }

  @Override
  public void exceptionCaught(ChannelHandlerContext ctx, Throwable cause) {
    failure = cause;
    Sockets.close(ctx.channel());
  }

  @Override
  public void channelInactive(ChannelHandlerContext ctx) {
    listener.failed(failure == null ? new ClosedChannelException() : failure);
  }
}
