package io.dynamo.kv;

import org.jspecify.annotations.Nullable;

/** A change to the objects that an object store can deliver, as reported by Mooncake's master. */
public sealed interface ObjectEvent {
  /** The tenant of objects that name none. */
  String DEFAULT_TENANT = "default";

  /** The medium of an object; the copies on each medium are added and removed independently. */
  enum Medium {
    MEMORY,
    DISK
  }

  /** Returns the tenant that the object belongs to. */
  String tenant();

  /** The object named {@code key} is available on {@code medium}. */
  record Stored(String tenant, String key, Medium medium) implements ObjectEvent {}

  /**
   * The object is no longer available on the medium.
   *
   * @param medium null means on no medium
   */
  record Removed(String tenant, String key, @Nullable Medium medium) implements ObjectEvent {}

  /** None of the tenant's objects is available. */
  record Cleared(String tenant) implements ObjectEvent {}
}
