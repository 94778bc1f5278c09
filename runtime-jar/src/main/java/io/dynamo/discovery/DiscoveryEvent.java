package io.dynamo.discovery;

/** A change of the records that a watch follows. */
public sealed interface DiscoveryEvent<R extends DiscoveryRecord> {
  /** The record that has come, changed or gone. */
  R record();

  /** The record is there now: new, or changed in value. */
  record Added<R extends DiscoveryRecord>(R record) implements DiscoveryEvent<R> {}

  /** The record, last seen in this form, is gone. */
  record Lost<R extends DiscoveryRecord>(R record) implements DiscoveryEvent<R> {}
}
