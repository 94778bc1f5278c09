package io.dynamo.pipeline;

import io.netty.channel.Channel;
import io.netty.channel.ChannelInitializer;
import io.netty.channel.ChannelOption;
import java.net.InetSocketAddress;
import java.time.Duration;
import org.jspecify.annotations.Nullable;

/** Dials the requester to deliver an answer. Safe for concurrent use. */
public final class CallHomeClient {
  private final EventLoops loops;
  private final @Nullable TlsContext tls;
  private final Duration connectTimeout;
  private final Duration finTimeout;
  private final Duration writeStall;

  /**
   * @param tls owned and closed by the caller; null for unencrypted connections
   * @param finTimeout how long a finished stream waits for the requester to close
   * @param writeStall how long a requester may leave written bytes unread
   */
  public CallHomeClient(
      EventLoops loops,
      @Nullable TlsContext tls,
      Duration connectTimeout,
      Duration finTimeout,
      Duration writeStall) {
    this.loops = loops;
    this.tls = tls;
    this.connectTimeout = connectTimeout;
    this.finTimeout = finTimeout;
    this.writeStall = writeStall;
  }

  /**
   * Connects to {@code requester} and sends the handshake that names the stream; returns at once.
   */
  public void dial(InetSocketAddress requester, Handshake handshake, CallHomeListener listener) {
    var loop = loops.next();
    var sender = new StreamSender(handshake, listener, finTimeout, writeStall, tls != null);
    loops
        .connect(
            loop,
            requester,
            connectTimeout,
            new ChannelInitializer<Channel>() {
              @Override
              protected void initChannel(Channel channel) {
                channel.pipeline().addLast(sender);
                if (tls != null) {
                  tls.secure(channel, requester);
                }
              }
            })
        .addListener(
            connected -> {
              if (!connected.isSuccess()) {
                listener.failed(connected.cause());
              }
            });
  }

  /**
   * Connects to {@code requester} and requests the input of a request; returns at once. Without TLS
   * this side is then half-closed, since it sends nothing more.
   */
  public void dialInput(
      InetSocketAddress requester,
      Handshake handshake,
      StreamLimits limits,
      InputListener listener) {
    loops
        .connect(
            loops.next(),
            requester,
            connectTimeout,
            new ChannelInitializer<Channel>() {
              @Override
              protected void initChannel(Channel channel) {
                channel.config().setOption(ChannelOption.ALLOW_HALF_CLOSURE, false);
                channel
                    .pipeline()
                    .addLast(new InputCaller(handshake, listener, limits, tls != null));
                if (tls != null) {
                  tls.secure(channel, requester);
                }
              }
            })
        .addListener(
            connected -> {
              if (!connected.isSuccess()) {
                listener.failed(connected.cause());
              }
            });
  }
}
