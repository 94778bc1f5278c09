package io.dynamo.discovery;

/** What a watch tells. */
public sealed interface DiscoveryEvent<R extends DiscoveryRecord> {
  /** What is there, or was. */
  R record();

  /** The record is there now: new, or changed in value. */
  record Added<R extends DiscoveryRecord>(R record) implements DiscoveryEvent<R> {}

  /** The record, last seen in this form, is gone. */
  record Lost<R extends DiscoveryRecord>(R record) implements DiscoveryEvent<R> {}
}
