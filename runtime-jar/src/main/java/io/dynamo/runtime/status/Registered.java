package io.dynamo.runtime.status;

/** A registration that can be removed. */
public interface Registered extends AutoCloseable {
  /** Removes the registration. Idempotent. */
  @Override
  void close();
}
