package io.dynamo.pipeline;

import io.netty.channel.Channel;
import io.netty.channel.ChannelInitializer;
import io.netty.handler.flush.FlushConsolidationHandler;
import java.net.InetSocketAddress;
import java.time.Duration;

/** Dials the requester to deliver an answer. Safe for concurrent use. */
public final class CallHomeClient {
  private static final int FLUSH_AFTER_WRITES = 64;

  private final EventLoops loops;
  private final Duration connectTimeout;
  private final Duration finTimeout;

  /**
   * @param finTimeout how long a finished stream waits for the requester to close
   */
  public CallHomeClient(EventLoops loops, Duration connectTimeout, Duration finTimeout) {
    this.loops = loops;
    this.connectTimeout = connectTimeout;
    this.finTimeout = finTimeout;
  }

  /** Connects to {@code requester} and says which stream it is; returns at once. */
  public void dial(InetSocketAddress requester, Handshake handshake, CallHomeListener listener) {
    var loop = loops.next();
    var sender = new StreamSender(handshake, listener, finTimeout);
    loops
        .connect(
            loop,
            requester,
            connectTimeout,
            new ChannelInitializer<Channel>() {
              @Override
              protected void initChannel(Channel channel) {
                channel
                    .pipeline()
                    .addLast(new FlushConsolidationHandler(FLUSH_AFTER_WRITES, true), sender);
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
