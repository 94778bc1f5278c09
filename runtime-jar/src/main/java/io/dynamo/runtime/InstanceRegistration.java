package io.dynamo.runtime;

import io.dynamo.discovery.Discovery;
import io.dynamo.discovery.Instance;
import org.jspecify.annotations.Nullable;

/**
 * The registration of one served endpoint in discovery. Its owner may withdraw it and restore it
 * while the endpoint continues to serve requesters that know it, for example when a worker sleeps.
 * Its health may withdraw it as well: it is in discovery while it is {@linkplain #register
 * registered} and {@linkplain #setFit fit}. Safe for concurrent use; calls wait for discovery.
 *
 * <p>When discovery refuses a change the call throws, and the next call of any kind tries again.
 */
public final class InstanceRegistration implements AutoCloseable {
  private final Discovery discovery;
  private final Instance instance;
  private boolean registered; // guarded by this, like the fields below
  private boolean fit = true;
  private boolean closed;
  private Discovery.@Nullable Handle handle; // set while in discovery

  /**
   * Creates a registration that is not in discovery before it is {@linkplain #register registered}.
   */
  public InstanceRegistration(Discovery discovery, Instance instance) {
    this.discovery = discovery;
    this.instance = instance;
  }

  public Instance instance() {
    return instance;
  }

  /**
   * Puts the instance into discovery, under the same id as before. Idempotent.
   *
   * @return whether it is in discovery now: not while its health keeps it out
   * @throws IllegalStateException when closed, or when another value is stored under its key
   */
  public synchronized boolean register() {
    if (closed) {
      throw new IllegalStateException("instance %s is closed".formatted(instance.id()));
    }
    registered = true;
    return match();
  }

  /**
   * Takes the instance out of discovery: routers send it no new requests, running ones continue.
   * Idempotent, and allowed when closed.
   */
  public synchronized void unregister() {
    registered = false;
    match();
  }

  /**
   * Sets whether the endpoint is healthy enough to be in discovery; initially it is.
   *
   * @return whether it is in discovery now
   */
  public synchronized boolean setFit(boolean fit) {
    this.fit = fit;
    return match();
  }

  private boolean match() { // the caller holds this lock
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

  /** Whether the instance is in discovery. */
  public synchronized boolean isFound() {
    return handle != null;
  }

  /** Takes the instance out of discovery for good. Idempotent. */
  @Override
  public synchronized void close() {
    closed = true;
    match();
  }
}
