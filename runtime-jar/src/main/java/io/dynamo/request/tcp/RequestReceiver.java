package io.dynamo.request.tcp;

import io.dynamo.pipeline.ArrivalCharge;
import io.dynamo.pipeline.Sockets;
import io.dynamo.wire.request.RequestHeaders;
import io.netty.buffer.ByteBuf;
import io.netty.channel.ChannelFutureListener;
import io.netty.channel.ChannelHandlerContext;
import io.netty.handler.codec.ByteToMessageDecoder;
import io.netty.util.concurrent.Future;
import java.nio.ByteBuffer;
import java.nio.charset.CharacterCodingException;
import java.nio.charset.StandardCharsets;
import java.util.List;
import java.util.concurrent.TimeUnit;
import org.jspecify.annotations.Nullable;

/**
 * A requester's connection on the worker's side: receives request frames and writes one
 * acknowledgement for each, in order. A started frame must be complete within the time that
 * requesters wait for an acknowledgement, so that slow peers do not hold buffers, and what of it
 * has arrived beyond {@link #FREE_BYTES} is charged to a budget of all connections. Runs on its
 * event loop.
 */
final class RequestReceiver extends ByteToMessageDecoder {
  /** Bytes of an incomplete frame that are not charged: most requests arrive at once. */
  static final int FREE_BYTES = 64 * 1024;

  private final TcpEndpointServer server;
  private final ArrivalCharge charge; // of an incomplete frame
  private @Nullable Future<?> frameTimer; // set while a partial frame is buffered
  private boolean ended; // further input is not read

  RequestReceiver(TcpEndpointServer server) {
    this.server = server;
    charge = new ArrivalCharge(server.arriving);
  }

  @Override
  protected void decode(ChannelHandlerContext ctx, ByteBuf in, List<Object> out) {
    if (ended) {
      in.skipBytes(in.readableBytes());
      return;
    }
    try {
      var frame = RequestFrame.read(in, server.settings.maxFrameBytes());
      if (frame != null) {
        stopTimer();
        charge.release();
        acknowledge(ctx, accept(frame));
      }
    } catch (RequestFrame.TooLargeException e) {
      stopTimer();
      refuse(ctx, e.refusal);
    }
  }

  private String accept(RequestFrame frame) {
    var path = path(frame.path());
    if (path == null) {
      return Acks.INVALID_PATH;
    }
    var endpoint = server.endpoint(path);
    if (endpoint == null) {
      return Acks.unknownEndpoint(path);
    }
    return endpoint.receive(RequestHeaders.ofJson(frame.headers()), frame);
  }

  private static @Nullable String path(byte[] utf8) {
    try {
      return StandardCharsets.UTF_8.newDecoder().decode(ByteBuffer.wrap(utf8)).toString();
    } catch (CharacterCodingException e) {
      return null;
    }
  }

  private void refuse(ChannelHandlerContext ctx, String text) {
    ended = true;
    ctx.writeAndFlush(ack(ctx, text)).addListener(ChannelFutureListener.CLOSE);
  }

  private static void acknowledge(ChannelHandlerContext ctx, String text) {
    ctx.write(ack(ctx, text)).addListener(ChannelFutureListener.CLOSE_ON_FAILURE);
  }

  private static ByteBuf ack(ChannelHandlerContext ctx, String text) {
    var bytes = text.getBytes(StandardCharsets.UTF_8);
    return ctx.alloc().buffer(4 + bytes.length).writeInt(bytes.length).writeBytes(bytes);
  }

  @Override
  public void channelReadComplete(ChannelHandlerContext ctx) throws Exception {
    if (!ended && !charge.set(Math.max(0, actualReadableBytes() - FREE_BYTES))) {
      server.refusedArrivals.increment();
      refuse(ctx, Acks.OVERLOADED);
    }
    ctx.flush();
    if (frameTimer == null && !ended && actualReadableBytes() > 0) {
      frameTimer =
          ctx.executor()
              .schedule(
                  () -> Sockets.close(ctx.channel()),
                  server.settings.timeouts().acknowledgement().toNanos(),
                  TimeUnit.NANOSECONDS);
    }
    super.channelReadComplete(ctx);
  }

  private void stopTimer() {
    if (frameTimer != null) {
      frameTimer.cancel(false);
      frameTimer = null;
    }
  }

  @Override
  protected void handlerRemoved0(ChannelHandlerContext ctx) {
    stopTimer();
    charge.release();
  }

  /** Stops reading from a requester that does not read its acknowledgements. */
  @Override
  public void channelWritabilityChanged(ChannelHandlerContext ctx) throws Exception {
    ctx.channel().config().setAutoRead(ctx.channel().isWritable());
    super.channelWritabilityChanged(ctx);
  }

  @Override
  public void exceptionCaught(ChannelHandlerContext ctx, Throwable cause) {
    System.getLogger(RequestReceiver.class.getName())
        .log(System.Logger.Level.DEBUG, "a request connection failed: {0}", cause.toString());
    Sockets.close(ctx.channel());
  }
}
