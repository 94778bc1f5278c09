package io.dynamo.kv;

/** The owner of the blocks that an event is about. */
public enum Residency {
  /** Those of the worker itself. */
  WORKER,
  /** Those that a shared cache keeps. */
  CACHE_OWNER,
  /** All there are; only {@link KvEvent.Cleared} says so. */
  ALL,
  /** A domain that came later, or none where one must be: the event means nothing here. */
  UNSUPPORTED
}
