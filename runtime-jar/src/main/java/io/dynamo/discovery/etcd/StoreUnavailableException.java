package io.dynamo.discovery.etcd;

import org.jspecify.annotations.Nullable;

/** Etcd did not answer a call in time, or refused it. The call may take effect later. */
public final class StoreUnavailableException extends RuntimeException {
  public StoreUnavailableException(String message, @Nullable Throwable cause) {
    super(message, cause);
  }
}
