package io.dynamo.worker.engine.remote;

/**
 * The memory that a worker has made its server release. It outlives the engines that call the
 * server, one for each time between two sleeps. Safe for concurrent use.
 */
public final class ServerMemory {
  /** Parts of its memory that a server has released. */
  public enum Released {
    /** Nothing by this worker; another may have put the server to sleep. */
    UNKNOWN,
    CACHE,
    CACHE_AND_WEIGHTS
  }

  private volatile Released released = Released.UNKNOWN;

  public Released released() {
    return released;
  }

  /** Records that the server sleeps. */
  public void release(boolean weightsToo) {
    released = weightsToo ? Released.CACHE_AND_WEIGHTS : Released.CACHE;
  }

  /** Records that the server is awake, with all that it had. */
  public void restored() {
    released = Released.UNKNOWN;
  }
}
