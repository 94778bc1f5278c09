package io.dynamo.discovery;

/**
 * Something that a live process has put into discovery, under its lease. Its identity is its {@link
 * #key()}.
 */
public sealed interface DiscoveryRecord permits Instance, ModelRecord {
  /** The bucket, {@code v1/instances} or {@code v1/mdc}. */
  String bucket();

  /** The key below the bucket, {@code {ns}/{comp}/{ep}/{id:x}[/{suffix}]}. */
  String key();

  InstanceId id();
}
