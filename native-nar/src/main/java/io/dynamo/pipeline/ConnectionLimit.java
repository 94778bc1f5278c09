package io.dynamo.pipeline;

import io.netty.channel.Channel;
import io.netty.channel.ChannelOption;
import java.util.concurrent.atomic.AtomicInteger;

/** Closes the connections of a listener that exceed a limit. Safe for concurrent use. */
public final class ConnectionLimit {
  private final int max;
  private final Runnable onRefused;
  private final AtomicInteger open = new AtomicInteger();

  /**
   * @param max connections open at once
   * @param onRefused called for each connection above the limit, on its event loop
   */
  public ConnectionLimit(int max, Runnable onRefused) {
    this.max = max;
    this.onRefused = onRefused;
  }

  /** Counts an accepted connection until it closes, or closes it and returns false. */
  public boolean admits(Channel accepted) {
    if (open.incrementAndGet() > max) {
      open.decrementAndGet();
      onRefused.run();
      accepted.config().setOption(ChannelOption.SO_LINGER, 0);
      if (accepted.isRegistered()) {
        Sockets.close(accepted);
      } else {
        accepted.unsafe().closeForcibly(); // it has no event loop yet that could close it
      }
      return false;
    }
    accepted.closeFuture().addListener(closed -> open.decrementAndGet());
    return true;
  }

  /** Returns the number of open connections. */
  public int open() {
    return open.get();
  }
}
