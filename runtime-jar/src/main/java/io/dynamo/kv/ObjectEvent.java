package io.dynamo.kv;

import org.jspecify.annotations.Nullable;

/** A change of what a store of objects can deliver, as Mooncake's master tells it. */
public sealed interface ObjectEvent {
  /** The tenant of objects that name none. */
  String DEFAULT_TENANT = "default";

  /** Where an object lies; a copy in each place comes and goes by itself. */
  enum Medium {
    MEMORY,
    DISK
  }

  /** The tenant that the object belongs to. */
  String tenant();

  /** The object named {@code key} can be had from {@code medium}. */
  record Stored(String tenant, String key, Medium medium) implements ObjectEvent {}

  /**
   * The object can be had from there no more.
   *
   * @param medium null is nowhere
   */
  record Removed(String tenant, String key, @Nullable Medium medium) implements ObjectEvent {}

  /** None of the tenant's objects can be had. */
  record Cleared(String tenant) implements ObjectEvent {}
}
