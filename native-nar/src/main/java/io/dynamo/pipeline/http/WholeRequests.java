package io.dynamo.pipeline.http;

import io.netty.channel.ChannelFutureListener;
import io.netty.channel.ChannelHandlerContext;
import io.netty.handler.codec.TooLongFrameException;
import io.netty.handler.codec.http.DefaultFullHttpResponse;
import io.netty.handler.codec.http.FullHttpMessage;
import io.netty.handler.codec.http.HttpContent;
import io.netty.handler.codec.http.HttpHeaderNames;
import io.netty.handler.codec.http.HttpHeaderValues;
import io.netty.handler.codec.http.HttpMessage;
import io.netty.handler.codec.http.HttpObjectAggregator;
import io.netty.handler.codec.http.HttpResponseStatus;
import io.netty.handler.codec.http.HttpVersion;
import java.util.function.IntPredicate;

/**
 * Collects requests up to a size; answers 413 to a larger one and closes its connection. A
 * connection whose request exceeds the server's total room is closed without an answer.
 */
final class WholeRequests extends HttpObjectAggregator {
  private final IntPredicate room;

  /**
   * @param room reserves the given number of body bytes; false when there is no room
   */
  WholeRequests(int maxBodyBytes, IntPredicate room) {
    super(maxBodyBytes, true);
    this.room = room;
  }

  @Override
  protected void aggregate(FullHttpMessage aggregated, HttpContent content) throws Exception {
    if (!room.test(content.content().readableBytes())) {
      throw new TooLongFrameException("the server holds as many bytes of requests as it may");
    }
    super.aggregate(aggregated, content);
  }

  @Override
  protected void handleOversizedMessage(ChannelHandlerContext ctx, HttpMessage oversized) {
    var answer =
        new DefaultFullHttpResponse(
            HttpVersion.HTTP_1_1, HttpResponseStatus.REQUEST_ENTITY_TOO_LARGE);
    answer
        .headers()
        .set(HttpHeaderNames.CONTENT_LENGTH, 0)
        .set(HttpHeaderNames.CONNECTION, HttpHeaderValues.CLOSE);
    ctx.writeAndFlush(answer).addListener(ChannelFutureListener.CLOSE);
  }
}
