package io.dynamo.discovery.store;

/** Keys and values that the processes of a cluster share, in buckets. Safe for concurrent use. */
public interface KeyValueStore {
  /** A backend of discovery that can keep such state. */
  interface Owner {
    /** Returns the store under the lease of this process; it ends with discovery. */
    KeyValueStore store();
  }

  /** Returns a bucket. Asks nobody: a bucket exists while it has keys. */
  Bucket bucket(BucketName name);
}
