package io.dynamo.discovery.store;

import java.io.UncheckedIOException;
import java.util.Arrays;
import java.util.OptionalLong;

/** Writes keys that others wait for, and must not outlive a caller that got no answer. */
final class NewKey {
  private NewKey() {}

  /**
   * Writes a key that does not exist. One that was written without an answer, also because the
   * caller was interrupted meanwhile, is deleted again, as far as the store answers.
   *
   * @param value that nobody else writes under this key
   * @return the revision; empty when the key exists
   * @throws UncheckedIOException when the store does not answer
   */
  static OptionalLong create(Bucket keys, String key, byte[] value) {
    try {
      return keys.create(key, value);
    } catch (UncheckedIOException e) {
      boolean interrupted = Thread.interrupted(); // no call would be answered
      try {
        keys.get(key)
            .filter(entry -> Arrays.equals(entry.value(), value))
            .ifPresent(entry -> keys.delete(key, entry.revision()));
      } catch (UncheckedIOException again) {
        e.addSuppressed(again);
      } finally {
        if (interrupted) {
          Thread.currentThread().interrupt();
        }
      }
      throw e;
    }
  }
}
