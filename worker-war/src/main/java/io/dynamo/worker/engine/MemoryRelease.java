package io.dynamo.worker.engine;

/** An {@link Engine} whose own server can release its memory while it stays. */
public interface MemoryRelease {
  /**
   * Ends every generation, so that it migrates, and releases the server's KV blocks; closing the
   * engine is all that may follow. The next engine before that server wakes it. A server that
   * cannot release its memory keeps it, which is logged.
   *
   * @param weightsToo whether the weights are released as well
   */
  void releaseMemory(boolean weightsToo);
}
