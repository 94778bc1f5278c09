package io.dynamo.runtime;

import io.dynamo.discovery.Discovery;
import io.dynamo.discovery.Instance;
import org.jspecify.annotations.Nullable;

/**
 * The place of one served endpoint in discovery. Its owner may take it out and put it back while
 * the endpoint goes on serving whoever has found it: a worker that sleeps, say. Its health may take
 * it out as well; it is found while it is {@linkplain #register registered} and {@linkplain #setFit
 * fit}. Safe for concurrent use; calls wait for discovery.
 *
 * <p>When discovery refuses a change the call throws, and the next call of any kind tries again.
 */
public final class InstanceRegistration implements AutoCloseable {
  private final Discovery discovery;
  private final Instance instance;
  private boolean registered; // guarded by this, like what follows
  private boolean fit = true;
  private boolean closed;
  private Discovery.@Nullable Handle handle; // while it is found

  /** Not in discovery before it is {@linkplain #register registered}. */
  public InstanceRegistration(Discovery discovery, Instance instance) {
    this.discovery = discovery;
    this.instance = instance;
  }

  public Instance instance() {
    return instance;
  }

  /**
   * Lets the instance be found, under the same id as before. Idempotent.
   *
   * @return whether it is found now: not while its health keeps it out
   * @throws IllegalStateException when closed, or when another value stands under its key
   */
  public synchronized boolean register() {
    if (closed) {
      throw new IllegalStateException("instance %s is closed".formatted(instance.id()));
    }
    registered = true;
    return match();
  }

  /**
   * Takes the instance out of discovery: routers send nothing more to it, requests that run go on.
   * Idempotent, and allowed when closed.
   */
  public synchronized void unregister() {
    registered = false;
    match();
  }

  /**
   * Says whether the endpoint is well enough to be found; it is until the first word.
   *
   * @return whether it is found now
   */
  public synchronized boolean setFit(boolean fit) {
    this.fit = fit;
    return match();
  }

  private boolean match() { // holds this
    var found = handle;
    if (!registered || !fit || closed) {
      if (found != null) {
        handle = null;
        found.close();
      }
      return false;
    }
    if (found == null) {
      handle = discovery.register(instance);
    }
    return true;
  }

  /** Whether discovery shows the instance. */
  public synchronized boolean isFound() {
    return handle != null;
  }

  /** Out of discovery for good. Idempotent. */
  @Override
  public synchronized void close() {
    closed = true;
    match();
  }
}
