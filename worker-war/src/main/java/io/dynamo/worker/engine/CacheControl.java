package io.dynamo.worker.engine;

/** An {@link Engine} whose cache of KV blocks can be emptied. Safe for concurrent use. */
public interface CacheControl {
  /**
   * Empties the caches of all ranks soon, which tell so by an event; generations under way are not
   * touched.
   */
  void clearCache();
}
