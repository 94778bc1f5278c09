package io.dynamo.discovery.etcd;

/** A change of one key, as etcd's watch reports it. */
sealed interface StoreChange {
  /** The revision of the store that the change made. */
  long revision();

  /** The key, without a leading slash. */
  String key();

  /** The key now has this value. */
  record Put(long revision, String key, byte[] value) implements StoreChange {}

  /** The key is gone: deleted, or its lease has ended. */
  record Deleted(long revision, String key) implements StoreChange {}
}
