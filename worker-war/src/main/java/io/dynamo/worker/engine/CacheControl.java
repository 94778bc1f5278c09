package io.dynamo.worker.engine;

/** An {@link Engine} whose cache of KV blocks can be emptied. Safe for concurrent use. */
public interface CacheControl {
  /**
   * Requests that the caches of all ranks be emptied soon; each rank reports it by an event.
   * Running generations are not affected.
   */
  void clearCache();
}
