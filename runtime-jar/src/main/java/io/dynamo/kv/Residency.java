package io.dynamo.kv;

/** The owner of the blocks that an event is about. */
public enum Residency {
  /** The worker itself. */
  WORKER,
  /** A shared cache. */
  CACHE_OWNER,
  /** Both the worker and shared caches; used by {@link KvEvent.Cleared} only. */
  ALL,
  /**
   * A value that this version does not know, or a missing one where it is required: the event is
   * ignored.
   */
  UNSUPPORTED
}
