package io.dynamo.router.index;

import java.lang.invoke.MethodHandles;
import java.lang.invoke.VarHandle;
import org.jspecify.annotations.Nullable;

/**
 * Finds a {@link Prefix} by its hash. One writer at a time; any thread reads without a lock.
 *
 * <p>Open addressing with linear probing. An element goes from null to a prefix to {@link #GONE}
 * and never moves within one array, so a reader that probes past it either sees it or sees an array
 * from before or after its life. Release on writing and acquire on reading an element publish the
 * final fields of the prefix; a new array is published, filled, by the volatile field.
 */
final class PrefixTable {
  private static final VarHandle ELEMENT = MethodHandles.arrayElementVarHandle(Prefix[].class);
  private static final Prefix GONE = new Prefix(0, 0, null); // probing continues behind it
  private static final int FIRST_CAPACITY = 1024; // a power of two
  private static final long SPREAD = 0x9E3779B97F4A7C15L;

  private volatile @Nullable Prefix[] elements = new Prefix[FIRST_CAPACITY];
  private int size; // prefixes; writer only
  private int taken; // prefixes and gone ones; writer only

  /** Returns the prefix of {@code hash}, or null. */
  @Nullable Prefix find(long hash) {
    var array = elements;
    int mask = array.length - 1;
    for (int i = home(hash, array.length); ; i = (i + 1) & mask) {
      var prefix = (Prefix) ELEMENT.getAcquire(array, i);
      if (prefix == null) {
        return null;
      }
      if (prefix.hash == hash && prefix != GONE) {
        return prefix;
      }
    }
  }

  /** Adds a prefix whose hash is not in the table. Writer only. */
  void add(Prefix prefix) {
    if (2 * (taken + 1) > elements.length) {
      rebuild();
    }
    insert(elements, prefix);
    size++;
    taken++;
  }

  /** Removes a prefix that is in the table. Writer only. */
  void remove(Prefix prefix) {
    var array = elements;
    int mask = array.length - 1;
    int i = home(prefix.hash, array.length);
    while (array[i] != prefix) {
      i = (i + 1) & mask;
    }
    ELEMENT.setRelease(array, i, GONE);
    size--;
  }

  /** Returns the number of prefixes; exact for the writer, may lag for others. */
  int size() {
    return size;
  }

  private void rebuild() {
    var old = elements;
    // The capacity is three to six times the live prefixes and half of it may be taken: at least
    // half as many adds again before the next rebuild, for any size, and memory is released after a
    // purge.
    int capacity = Math.max(FIRST_CAPACITY, Integer.highestOneBit(Math.max(1, 3 * size)) << 1);
    var fresh = new Prefix[capacity];
    for (var prefix : old) {
      if (prefix != null && prefix != GONE) {
        insert(fresh, prefix);
      }
    }
    taken = size;
    elements = fresh;
  }

  private static void insert(@Nullable Prefix[] array, Prefix prefix) {
    int mask = array.length - 1;
    int i = home(prefix.hash, array.length);
    while (array[i] != null) {
      i = (i + 1) & mask;
    }
    ELEMENT.setRelease(array, i, prefix);
  }

  static int home(long hash, int capacity) {
    return (int) ((hash * SPREAD) >>> (64 - Integer.numberOfTrailingZeros(capacity)));
  }
}
