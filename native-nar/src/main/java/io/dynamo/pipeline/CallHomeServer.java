package io.dynamo.pipeline;

import io.netty.channel.Channel;
import io.netty.channel.ChannelInitializer;
import io.netty.channel.group.ChannelGroup;
import io.netty.channel.group.DefaultChannelGroup;
import io.netty.util.concurrent.GlobalEventExecutor;
import java.net.InetSocketAddress;
import java.util.concurrent.ConcurrentHashMap;
import org.jspecify.annotations.Nullable;

/**
 * Accepts the connections on which workers deliver their answers: each names, in its first frame,
 * the stream it carries. A connection with a name that is not expected is closed. Safe for
 * concurrent use.
 */
public final class CallHomeServer implements AutoCloseable {
  /** An expected stream. */
  public interface Registration extends AutoCloseable {
    /** Stops expecting the stream; a worker that still calls is refused. Idempotent. */
    @Override
    void close();
  }

  private static final long CLOSE_MILLIS = 2_000;

  private final ConcurrentHashMap<String, StreamListener> expected = new ConcurrentHashMap<>();
  private final ConcurrentHashMap<String, InputSource> inputs = new ConcurrentHashMap<>();
  private final ChannelGroup open = new DefaultChannelGroup(GlobalEventExecutor.INSTANCE, true);
  private final Channel listener;

  /**
   * Binds, so it must not be called on an event loop.
   *
   * @param address to listen on; port 0 lets the system choose
   * @param tls owned and closed by the caller; null for unencrypted connections
   * @param connections bounds the number of open connections
   * @param streams bounds each stream
   */
  public CallHomeServer(
      EventLoops loops,
      @Nullable TlsContext tls,
      InetSocketAddress address,
      ConnectionLimit connections,
      StreamLimits streams) {
    listener =
        loops.listen(
            address,
            new ChannelInitializer<>() {
              @Override
              protected void initChannel(Channel channel) {
                if (!connections.admits(channel)) {
                  return;
                }
                open.add(channel);
                channel
                    .pipeline()
                    .addLast(
                        new StreamReceiver(
                            CallHomeServer.this::claim, CallHomeServer.this::claimInput, streams));
                if (tls != null) {
                  tls.secure(channel, null);
                }
              }
            });
  }

  /** Returns the address at which workers reach this server. */
  public InetSocketAddress address() {
    return (InetSocketAddress) listener.localAddress();
  }

  /**
   * Expects the stream {@code subject}.
   *
   * @throws IllegalStateException when that stream is expected already
   */
  public Registration expect(String subject, StreamListener waiting) {
    if (expected.putIfAbsent(subject, waiting) != null) {
      throw new IllegalStateException("stream " + subject + " is waited for already");
    }
    return () -> expected.remove(subject, waiting);
  }

  private @Nullable StreamListener claim(Handshake handshake) {
    return handshake.streamType().equals(Handshake.RESPONSE)
        ? expected.remove(handshake.subject())
        : null;
  }

  /**
   * Expects a worker to call for the input {@code subject}.
   *
   * @throws IllegalStateException when that input is expected already
   */
  public Registration expectInput(String subject, InputSource source) {
    if (inputs.putIfAbsent(subject, source) != null) {
      throw new IllegalStateException("input " + subject + " is waited for already");
    }
    return () -> inputs.remove(subject, source);
  }

  private @Nullable InputSource claimInput(Handshake handshake) {
    return handshake.streamType().equals(Handshake.REQUEST)
        ? inputs.remove(handshake.subject())
        : null;
  }

  /** Returns the number of streams and inputs that are expected. */
  public int waiting() {
    return expected.size() + inputs.size();
  }

  /** Closes the listener and every stream. Idempotent; must not be called on an event loop. */
  @Override
  public void close() {
    listener.close().awaitUninterruptibly(CLOSE_MILLIS);
    expected.clear();
    inputs.clear();
    open.close().awaitUninterruptibly(CLOSE_MILLIS);
  }
}
