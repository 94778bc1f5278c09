package io.dynamo.discovery;

/**
 * A record that a live process has put into discovery, under its lease. Its identity is its {@link
 * #key()}.
 */
public sealed interface DiscoveryRecord permits Instance, ModelRecord, EventChannel, EventSource {
  /** Returns the bucket, for example {@code v1/instances}. */
  String bucket();

  /** Returns the key below the bucket, for example {@code {ns}/{comp}/{ep}/{id:x}}. */
  String key();
}
