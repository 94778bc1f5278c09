package io.dynamo.pipeline.http2;

import static org.assertj.core.api.Assertions.assertThat;

import io.netty.buffer.Unpooled;
import io.netty.channel.ChannelHandlerContext;
import io.netty.channel.ChannelOutboundHandlerAdapter;
import io.netty.channel.ChannelPromise;
import io.netty.channel.embedded.EmbeddedChannel;
import io.netty.handler.codec.http2.DefaultHttp2DataFrame;
import io.netty.handler.codec.http2.DefaultHttp2Headers;
import io.netty.handler.codec.http2.DefaultHttp2HeadersFrame;
import io.netty.handler.codec.http2.Http2DataFrame;
import io.netty.handler.codec.http2.Http2Headers;
import io.netty.handler.codec.http2.Http2HeadersFrame;
import io.netty.util.ReferenceCountUtil;
import java.time.Duration;
import java.util.concurrent.TimeUnit;
import org.jspecify.annotations.Nullable;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.Test;

class ServedStreamTest {
  private static final Duration LIMIT = Duration.ofSeconds(10);

  private final EmbeddedChannel channel = new EmbeddedChannel();
  private long room = 1000; // bytes for requests that have arrived in part

  private final Http2Handler handler =
      new Http2Handler() {
        @Override
        public void handle(Http2Request request, Http2Exchange exchange) {
          throw new AssertionError("no request is complete");
        }

        @Override
        public boolean take(long more, long held) {
          if (more > room) {
            return false;
          }
          room -= more;
          return true;
        }

        @Override
        public void give(long bytes) {
          room += bytes;
        }
      };

  @AfterEach
  void close() {
    channel.finishAndReleaseAll();
    assertThat(room).as("all bytes are returned").isEqualTo(1000);
  }

  private void open(String value, boolean ends) {
    var frames = new DataFrames();
    channel.pipeline().addLast(frames);
    channel
        .pipeline()
        .addLast(
            new ServedStream(
                channel, frames, handler, new Http2Bounds(1 << 20, LIMIT, LIMIT, LIMIT)));
    channel.writeInbound(
        new DefaultHttp2HeadersFrame(
            new DefaultHttp2Headers().method("POST").path("/p").add("long", value), ends));
  }

  private @Nullable CharSequence status() {
    Http2HeadersFrame answer = channel.readOutbound();
    return answer == null
        ? null
        : answer.headers().get(Http2Headers.PseudoHeaderName.STATUS.value());
  }

  @Test
  void headersCountAsBytesThatHaveArrived() {
    open("x".repeat(500), false);
    assertThat(status()).isNull();
    assertThat(room).isBetween(400L, 500L);
    var part = new byte[300];
    part[7] = 1; // bytes of the frame's header
    part[13] = 1; // 65,536 bytes of its body
    channel.writeInbound(new DefaultHttp2DataFrame(Unpooled.wrappedBuffer(part)));
    assertThat(room).isBetween(100L, 200L);
    channel.writeInbound(new DefaultHttp2DataFrame(Unpooled.wrappedBuffer(new byte[300])));
    assertThat(status()).hasToString("503");
  }

  @Test
  void headersBeyondTheBudgetAreRefused() {
    open("x".repeat(1000), false);
    assertThat(status()).hasToString("503");
    assertThat(room).isEqualTo(1000);
  }

  /** A peer whose window is closed: takes heads and no data. */
  private static final class NoWindow extends ChannelOutboundHandlerAdapter {
    @Override
    public void write(ChannelHandlerContext ctx, Object message, ChannelPromise promise) {
      if (message instanceof Http2DataFrame) {
        ReferenceCountUtil.release(message);
      } else {
        var _ = ctx.write(message, promise);
      }
    }
  }

  @Test
  void aRefusalThatIsNotTakenEndsWithTheStream() {
    channel.pipeline().addLast(new NoWindow());
    open("x", true);
    assertThat(status()).hasToString("400");
    assertThat(channel.isOpen()).isTrue();
    channel.advanceTimeBy(LIMIT.toMillis() + 1, TimeUnit.MILLISECONDS);
    channel.runScheduledPendingTasks();
    assertThat(channel.isOpen()).isFalse();
  }

  @Test
  void aRefusalThatIsTakenNeedsNoTimer() {
    open("x", true);
    assertThat(status()).hasToString("400");
    channel.advanceTimeBy(LIMIT.toMillis() + 1, TimeUnit.MILLISECONDS);
    channel.runScheduledPendingTasks();
    assertThat(channel.isOpen()).isTrue();
  }
}
