package io.dynamo.discovery;

/** A change of the records that a watch follows. */
public sealed interface DiscoveryEvent<R extends DiscoveryRecord> {
  /** Returns the record that was added, changed or removed. */
  R record();

  /** The record now exists: new, or changed in value. */
  record Added<R extends DiscoveryRecord>(R record) implements DiscoveryEvent<R> {}

  /** The record is gone; this is its last known form. */
  record Lost<R extends DiscoveryRecord>(R record) implements DiscoveryEvent<R> {}
}
