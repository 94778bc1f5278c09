package io.dynamo.pipeline.http;

import io.dynamo.pipeline.Sockets;
import io.netty.buffer.ByteBufUtil;
import io.netty.channel.Channel;
import io.netty.channel.ChannelHandlerContext;
import io.netty.channel.ChannelInboundHandlerAdapter;
import io.netty.handler.codec.DecoderException;
import io.netty.handler.codec.http.HttpContent;
import io.netty.handler.codec.http.HttpObject;
import io.netty.handler.codec.http.HttpResponse;
import io.netty.handler.codec.http.HttpResponseStatus;
import io.netty.handler.codec.http.HttpStatusClass;
import io.netty.handler.codec.http.HttpUtil;
import io.netty.handler.codec.http.LastHttpContent;
import io.netty.util.ReferenceCountUtil;
import io.netty.util.concurrent.Future;
import java.io.IOException;
import java.time.Duration;
import java.util.concurrent.TimeUnit;
import org.jspecify.annotations.Nullable;

/**
 * One connection to a server, which serves one call at a time and waits in between. Behind the
 * codec; all state belongs to its event loop.
 */
final class ClientConnection extends ChannelInboundHandlerAdapter {
  /** Less than after which common servers close a connection: a call that meets that is lost. */
  private static final Duration IDLE = Duration.ofSeconds(4);

  private final Channel channel;
  private final IdleConnections pool;
  private final String host;
  private @Nullable ClientCall call;
  private @Nullable Future<?> written; // the request of the call
  private @Nullable Future<?> expiry; // while it waits
  private boolean stale; // it has served a call before
  private boolean interim; // the head belongs to a message before the answer
  private boolean kept; // the server keeps the connection open after the answer

  ClientConnection(Channel channel, IdleConnections pool, String host) {
    this.channel = channel;
    this.pool = pool;
    this.host = host;
  }

  void serve(ClientCall next) {
    var request = next.request().to(host);
    call = next;
    if (expiry != null) {
      expiry.cancel(false);
      expiry = null;
    }
    written =
        channel
            .writeAndFlush(request)
            .addListener(
                done -> {
                  if (!done.isSuccess() && call == next) {
                    lose(done.cause());
                  }
                });
  }

  /** Reads again, if that had been stopped. */
  void readOn() {
    if (!channel.config().isAutoRead()) {
      channel.config().setAutoRead(true);
    }
  }

  @Override
  public void channelRead(ChannelHandlerContext ctx, Object message) {
    try {
      if (call == null) { // it was cancelled, or sends what nobody asked for
        close();
      } else if (message instanceof HttpObject part && part.decoderResult().isFailure()) {
        lose(
            new IOException(
                "the server's answer is no HTTP: " + part.decoderResult().cause().getMessage()));
      } else {
        if (message instanceof HttpResponse head) {
          begin(head, call);
        }
        if (message instanceof HttpContent body) {
          take(body, call);
        }
      }
    } finally {
      ReferenceCountUtil.release(message);
    }
  }

  private void begin(HttpResponse head, ClientCall of) {
    interim = head.status().codeClass() == HttpStatusClass.INFORMATIONAL;
    if (head.status().equals(HttpResponseStatus.SWITCHING_PROTOCOLS)) {
      lose(new IOException("the server switches to another protocol, which nobody asked for"));
    } else if (!interim) {
      kept = HttpUtil.isKeepAlive(head);
      of.begun(head.status().code());
    }
  }

  private void take(HttpContent body, ClientCall of) {
    if (interim) {
      return;
    }
    if (body.content().isReadable()) {
      of.content(ByteBufUtil.getBytes(body.content()));
      if (!of.isAsked()) {
        channel.config().setAutoRead(false);
      }
    }
    if (body instanceof LastHttpContent && call == of) { // the listener may have cancelled it
      call = null;
      free();
      of.ended();
    }
  }

  private void free() {
    if (!kept || written == null || !written.isSuccess() || !channel.isActive()) {
      close();
      return;
    }
    stale = true;
    readOn();
    expiry = channel.eventLoop().schedule(this::expire, IDLE.toNanos(), TimeUnit.NANOSECONDS);
    pool.add(this);
  }

  private void expire() {
    pool.remove(this);
    close();
  }

  private void lose(Throwable cause) {
    var lost = call;
    call = null;
    close();
    if (lost != null) {
      if (stale) {
        pool.closeAll();
      }
      lost.lost(io(cause), stale);
    }
  }

  private static IOException io(Throwable cause) {
    var inner =
        cause instanceof DecoderException && cause.getCause() != null ? cause.getCause() : cause;
    return inner instanceof IOException same ? same : new IOException(inner);
  }

  boolean isOpen() {
    return channel.isActive();
  }

  /** Closes the connection without a word to its call. */
  void drop() {
    call = null;
    close();
  }

  void close() {
    Sockets.close(channel);
  }

  @Override
  public void exceptionCaught(ChannelHandlerContext ctx, Throwable cause) {
    lose(cause);
  }

  @Override
  public void channelInactive(ChannelHandlerContext ctx) {
    if (expiry != null) {
      expiry.cancel(false);
    }
    pool.remove(this);
    if (call != null) {
      lose(new IOException("the server closed the connection before the end of its answer"));
    }
  }
}
