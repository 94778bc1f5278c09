package io.dynamo.frontend.sse;

import io.dynamo.concurrent.Cancellation;
import java.net.InetSocketAddress;

/**
 * The client's end of one request while it is in flight. Its connection may carry other requests
 * before and after: this object stands for one of them only. Safe for concurrent use.
 */
public final class ClientConnection {
  /** Why a request was given up on the client's side. */
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

  /** Why the request was given up, as far as the client is to blame. */
  public Loss loss() {
    return loss;
  }

  void writing() {
    writingSince = System.nanoTime();
    isWriting = true;
  }

  void written() {
    isWriting = false;
  }

  /** How long the write that is under way has taken, 0 when none is. */
  long writingNanos(long now) {
    return isWriting ? now - writingSince : 0;
  }

  /** The request has its answer: from now on it can no longer be given up. */
  synchronized void end() {
    over = true;
  }

  /** Gives the request up, unless it is over. */
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
