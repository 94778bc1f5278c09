package io.dynamo.runtime.status;

/** Something that was registered. */
public interface Registered extends AutoCloseable {
  /** Takes it back. Idempotent. */
  @Override
  void close();
}
