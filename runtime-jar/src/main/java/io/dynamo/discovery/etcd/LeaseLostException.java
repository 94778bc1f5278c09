package io.dynamo.discovery.etcd;

/** Etcd does not know the lease of this process: it has run out, or was revoked. */
final class LeaseLostException extends RuntimeException {
  LeaseLostException(Throwable cause) {
    super("etcd does not know the lease of this process", cause);
  }
}
