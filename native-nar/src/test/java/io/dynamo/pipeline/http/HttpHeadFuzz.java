package io.dynamo.pipeline.http;

import io.netty.buffer.Unpooled;
import io.netty.channel.ChannelHandlerContext;
import io.netty.channel.ChannelInboundHandlerAdapter;
import io.netty.channel.embedded.EmbeddedChannel;
import io.netty.handler.codec.PrematureChannelClosureException;
import io.netty.handler.codec.http.FullHttpRequest;
import java.nio.channels.ClosedChannelException;
import java.util.Arrays;

/**
 * Fuzz target: any bytes at the status server's port, up to the point where a handler would be
 * called. The first byte of the input is the size of the pieces. No request that is passed on
 * exceeds the limits, and no exception escapes the codec.
 */
public final class HttpHeadFuzz {
  private static final int MAX_HEADER_BYTES = 1024;
  private static final int MAX_BODY_BYTES = 4096;

  private HttpHeadFuzz() {}

  /** Called by the fuzzer and by the replay of the corpus. */
  public static void fuzzerTestOneInput(byte[] input) {
    if (input.length == 0) {
      return;
    }
    var channel =
        new EmbeddedChannel(
            HttpServer.codec(MAX_HEADER_BYTES),
            new WholeRequests(MAX_BODY_BYTES, _ -> true),
            new Requests());
    try {
      int piece = 1 + (input[0] & 0xff);
      for (int at = 1; at < input.length && channel.isOpen(); at += piece) {
        channel.writeInbound(
            Unpooled.copiedBuffer(
                Arrays.copyOfRange(input, at, Math.min(input.length, at + piece))));
        channel.releaseOutbound();
      }
      channel.checkException();
    } catch (Exception failure) {
      if (!(failure
          instanceof ClosedChannelException)) { // an answer to one that was refused before
        throw failure;
      }
    } finally {
      channel.finishAndReleaseAll();
    }
  }

  private static final class Requests extends ChannelInboundHandlerAdapter {
    @Override
    public void channelRead(ChannelHandlerContext context, Object message) {
      var request = (FullHttpRequest) message;
      try {
        if (request.decoderResult().isSuccess()
            && (request.uri().length() > MAX_HEADER_BYTES
                || request.content().readableBytes() > MAX_BODY_BYTES)) {
          throw new IllegalStateException("a request beyond its limits was passed on");
        }
      } finally {
        request.release();
      }
    }

    /** Ignores a connection that ends within a request: it is no fault. */
    @Override
    public void exceptionCaught(ChannelHandlerContext context, Throwable cause) {
      if (!(cause instanceof PrematureChannelClosureException)) {
        context.fireExceptionCaught(cause);
      }
    }
  }
}
