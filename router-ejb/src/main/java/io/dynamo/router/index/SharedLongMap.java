package io.dynamo.router.index;

import io.dynamo.token.HashSpread;
import java.lang.invoke.MethodHandles;
import java.lang.invoke.VarHandle;

/**
 * A map from 64-bit hashes to longs that one thread at a time changes and any thread reads without
 * a lock. A reader sees each entry as it was before or after a change that happens meanwhile.
 *
 * <p>Open addressing with linear probing, key and value side by side. A key never moves or goes
 * within one array; a removed entry keeps its key and has the value {@link #ABSENT} until the array
 * is rebuilt. Release on writing and acquire on reading a key publish its first value.
 */
final class SharedLongMap {
  /**
   * The result of {@link #get} for a key that is not in the map. An entry with this value, one of
   * 2^64, cannot be distinguished from none.
   */
  static final long ABSENT = 0x4d1f_93a6_0be7_5c29L;

  private static final VarHandle ELEMENT = MethodHandles.arrayElementVarHandle(long[].class);
  private static final int FIRST_CAPACITY = 16; // entries; a power of two

  private volatile long[] entries = new long[2 * FIRST_CAPACITY]; // key 0 is a free place
  private volatile long zero = ABSENT; // the value of key 0
  private int size; // keys with a value, without key 0; writer only
  private int taken; // places with a key; writer only

  /** Returns the value of {@code key}, or {@link #ABSENT}. */
  long get(long key) {
    if (key == 0) {
      return zero;
    }
    var array = entries;
    int i = place(array, key);
    return (long) ELEMENT.getAcquire(array, i) == key
        ? (long) ELEMENT.getAcquire(array, i + 1)
        : ABSENT;
  }

  /** Sets the value of {@code key}. Writer only. */
  void put(long key, long value) {
    if (key == 0) {
      zero = value;
      return;
    }
    var array = entries;
    int i = place(array, key);
    if (array[i] == key) {
      size += (value == ABSENT ? 0 : 1) - (array[i + 1] == ABSENT ? 0 : 1);
      ELEMENT.setRelease(array, i + 1, value);
      return;
    }
    if (4 * (taken + 1) > array.length) { // more than half of the places
      array = rebuild();
      i = place(array, key);
    }
    size += value == ABSENT ? 0 : 1;
    taken++;
    ELEMENT.setRelease(array, i + 1, value);
    ELEMENT.setRelease(array, i, key);
  }

  /** Removes {@code key}, if present. Writer only. */
  void remove(long key) {
    if (get(key) != ABSENT) {
      put(key, ABSENT);
    }
  }

  /** Returns the index of {@code key}, or of the free place where it would go. */
  private static int place(long[] array, long key) {
    int mask = array.length - 1;
    int i = home(key, array.length);
    for (; ; i = (i + 2) & mask) {
      long found = (long) ELEMENT.getAcquire(array, i);
      if (found == key || found == 0) {
        return i;
      }
    }
  }

  private long[] rebuild() {
    // Two to four places for each entry: half may be taken before the next rebuild.
    int capacity = Math.max(FIRST_CAPACITY, Integer.highestOneBit(Math.max(1, 2 * size)) << 1);
    var fresh = new long[2 * capacity];
    var old = entries;
    for (int i = 0; i < old.length; i += 2) {
      if (old[i] != 0 && old[i + 1] != ABSENT) {
        int to = place(fresh, old[i]);
        fresh[to] = old[i];
        fresh[to + 1] = old[i + 1];
      }
    }
    taken = size;
    entries = fresh;
    return fresh;
  }

  private static int home(long key, int length) {
    return (int) ((key * HashSpread.FACTOR) >>> (64 - Integer.numberOfTrailingZeros(length))) & -2;
  }
}
