package io.dynamo.frontend.sse;

import io.dynamo.concurrent.Cancellation;
import java.net.InetSocketAddress;

/**
 * The client of one request in flight. Its connection may carry other requests before and after:
 * this object belongs to one of them only. Safe for concurrent use.
 */
public final class ClientConnection {
  /** How the client of a request was lost. */
  public enum Loss {
    NONE,
    HUNG_UP,
    STALLED
  }

  private final InetSocketAddress local;
  private final InetSocketAddress remote;
  private final Cancellation cancellation;
  private volatile boolean over;
  private volatile boolean isWriting;
  private volatile long writingSince; // nanos, meaningful while isWriting
  private volatile Loss loss = Loss.NONE;

  /**
   * @param local our end of the TCP connection
   * @param remote the client's
   */
  public ClientConnection(
      InetSocketAddress local, InetSocketAddress remote, Cancellation cancellation) {
    this.local = local;
    this.remote = remote;
    this.cancellation = cancellation;
  }

  public InetSocketAddress local() {
    return local;
  }

  public InetSocketAddress remote() {
    return remote;
  }

  /** Why the request was cancelled on behalf of the client. */
  public Loss loss() {
    return loss;
  }

  /** Notes that a write begins, which may wait for the client. */
  public void beginWrite() {
    writingSince = System.nanoTime();
    isWriting = true;
  }

  public void endWrite() {
    isWriting = false;
  }

  /** Nanoseconds that the current write has taken; 0 when none is under way. */
  long writingNanos(long now) {
    return isWriting ? now - writingSince : 0;
  }

  /** Marks the request as answered: {@link #lose} has no effect from now on. */
  public synchronized void end() {
    over = true;
  }

  /** Cancels the request, unless it is answered. */
  public void lose(Loss why) {
    synchronized (this) {
      if (over) {
        return;
      }
      over = true;
      loss = why;
    }
    cancellation.kill();
  }
}
