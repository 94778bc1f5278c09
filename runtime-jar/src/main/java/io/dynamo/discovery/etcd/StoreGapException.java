package io.dynamo.discovery.etcd;

/** Changes of the store may have been missed; only a fresh look at all keys heals that. */
final class StoreGapException extends RuntimeException {
  StoreGapException(String message) {
    super(message);
  }
}
