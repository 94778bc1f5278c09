package io.dynamo.discovery.store;

import io.dynamo.discovery.Discovery;
import java.util.Arrays;
import java.util.Map;
import java.util.Optional;
import java.util.OptionalLong;
import java.util.function.Consumer;

/**
 * Some keys of a store. A key lives under the lease of the process that wrote it last: it vanishes
 * when that process ends or loses its lease, and is not written again by itself. Buckets are small:
 * whoever watches one receives it whole.
 *
 * <p>All calls but {@link #watch} wait for the store, a bounded time, and throw {@link
 * java.io.UncheckedIOException} when it does not answer; a call may then have taken effect. Safe
 * for concurrent use.
 */
public interface Bucket {
  /** The most bytes of a value. */
  int MAX_VALUE_BYTES = 1 << 20;

  /**
   * A value.
   *
   * @param value not to be changed
   * @param revision differs after every write of the key
   */
  record Entry(byte[] value, long revision) {
    @Override
    public boolean equals(Object other) {
      return other instanceof Entry entry
          && revision == entry.revision
          && Arrays.equals(value, entry.value);
    }

    @Override
    public int hashCode() {
      return Long.hashCode(revision);
    }
  }

  /** Returns the value of {@code key}. */
  Optional<Entry> get(String key);

  /** Returns all keys with their values. */
  Map<String, Entry> entries();

  /**
   * Writes a key that does not exist.
   *
   * @return the revision; empty when the key exists
   */
  OptionalLong create(String key, byte[] value);

  /**
   * Writes a key that has not changed, which then lives under the lease of this process.
   *
   * @param revision of the value that is replaced
   * @return the new revision; empty when the key has another one, or does not exist
   */
  OptionalLong replace(String key, byte[] value, long revision);

  /**
   * Deletes a key that has not changed.
   *
   * @param revision of the value that is deleted
   * @return whether it was deleted
   */
  boolean delete(String key, long revision);

  /**
   * Reports all entries to {@code listener}: the present ones, also when there are none, then all
   * again after every change. Calls come one at a time, on a thread of the backend; a listener must
   * not block. What changes between two looks at the store is reported once: the last report is the
   * present state. While the store is away there are no reports.
   */
  Discovery.Handle watch(Consumer<Map<String, Entry>> listener);
}
