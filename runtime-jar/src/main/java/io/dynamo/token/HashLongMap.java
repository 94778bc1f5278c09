package io.dynamo.token;

/**
 * A map from 64-bit hashes to longs without an object per entry: open addressing, linear probing,
 * at most half full. One thread at a time.
 */
public final class HashLongMap {
  /** Receives an entry. */
  @FunctionalInterface
  public interface EntryConsumer {
    void accept(long key, long value);
  }

  private static final int FIRST_CAPACITY = 16; // a power of two

  private long[] keys = new long[FIRST_CAPACITY];
  private long[] values = new long[FIRST_CAPACITY];
  private boolean[] used = new boolean[FIRST_CAPACITY];
  private int size;

  public int size() {
    return size;
  }

  public boolean contains(long key) {
    return used[slot(key)];
  }

  /** Returns the value of {@code key}, or {@code absent}. */
  public long getOrDefault(long key, long absent) {
    int slot = slot(key);
    return used[slot] ? values[slot] : absent;
  }

  public void put(long key, long value) {
    int slot = slot(key);
    if (!used[slot]) {
      if (2 * (size + 1) > keys.length) {
        grow();
        slot = slot(key);
      }
      used[slot] = true;
      keys[slot] = key;
      size++;
    }
    values[slot] = value;
  }

  /** Removes {@code key}, if present. */
  public void remove(long key) {
    int hole = slot(key);
    if (!used[hole]) {
      return;
    }
    size--;
    // Close the gap: an entry may move back to the hole unless its home lies behind the hole.
    int mask = keys.length - 1;
    for (int i = (hole + 1) & mask; used[i]; i = (i + 1) & mask) {
      int home = home(keys[i]);
      if (((i - home) & mask) >= ((i - hole) & mask)) {
        keys[hole] = keys[i];
        values[hole] = values[i];
        hole = i;
      }
    }
    used[hole] = false;
  }

  /** Passes every entry to {@code consumer}, which must not change the map. */
  public void forEach(EntryConsumer consumer) {
    for (int i = 0; i < keys.length; i++) {
      if (used[i]) {
        consumer.accept(keys[i], values[i]);
      }
    }
  }

  private int home(long key) {
    return (int) ((key * HashSpread.FACTOR) >>> (64 - Integer.numberOfTrailingZeros(keys.length)));
  }

  private int slot(long key) {
    int mask = keys.length - 1;
    int slot = home(key);
    while (used[slot] && keys[slot] != key) {
      slot = (slot + 1) & mask;
    }
    return slot;
  }

  private void grow() {
    var oldKeys = keys;
    var oldValues = values;
    var oldUsed = used;
    keys = new long[2 * oldKeys.length];
    values = new long[keys.length];
    used = new boolean[keys.length];
    for (int i = 0; i < oldKeys.length; i++) {
      if (oldUsed[i]) {
        int slot = slot(oldKeys[i]);
        used[slot] = true;
        keys[slot] = oldKeys[i];
        values[slot] = oldValues[i];
      }
    }
  }
}
