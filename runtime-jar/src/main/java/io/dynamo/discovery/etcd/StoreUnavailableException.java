package io.dynamo.discovery.etcd;

/** Etcd did not answer a call in time, or refused it. The call may take effect later. */
public final class StoreUnavailableException extends RuntimeException {
  public StoreUnavailableException(String message, Throwable cause) {
    super(message, cause);
  }
}
