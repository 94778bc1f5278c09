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
   * @param tls stays the caller's to close; null for connections in the clear
   * @param finTimeout how long a finished stream waits for the requester to close
   * @param writeStall how long a requester may take nothing of what is written
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

  /** Connects to {@code requester} and says which stream it is; returns at once. */
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
   * Connects to {@code requester} and calls for the input of a request; returns at once. In the
   * clear this side is then half-closed: it has no more to say.
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
