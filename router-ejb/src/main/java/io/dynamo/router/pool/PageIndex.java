package io.dynamo.router.pool;

import io.dynamo.kv.ObjectEvent;
import java.util.Arrays;
import java.util.HashMap;
import java.util.Map;
import java.util.concurrent.ConcurrentHashMap;
import java.util.function.LongBinaryOperator;
import org.jspecify.annotations.Nullable;

/**
 * Records which objects of which pages a store has reported. Objects of other layouts and of other
 * tenants take no room. Written by one thread, read by any without a lock.
 */
final class PageIndex {
  /**
   * The greatest number of pages; further ones are ignored until some are removed. About 100 MiB.
   */
  static final int MAX_PAGES = 1_000_000;

  private final int maxPages;
  private final String prefix;
  private final Map<String, Integer> objects = new HashMap<>(); // by suffix
  private final long[] all; // the bits of a complete page
  private final Map<PageHash, long[]> pages = // bits in memory, then as many on disk
      new ConcurrentHashMap<>(); // arrays are replaced, never changed

  PageIndex(HicacheLayout layout) {
    this(layout, MAX_PAGES);
  }

  PageIndex(HicacheLayout layout, int maxPages) {
    this.maxPages = maxPages;
    this.prefix = layout.prefix();
    layout.suffixes().forEach(suffix -> objects.put(suffix, objects.size()));
    this.all = new long[(objects.size() + Long.SIZE - 1) / Long.SIZE];
    for (int object = 0; object < objects.size(); object++) {
      all[object / Long.SIZE] |= 1L << object;
    }
  }

  /**
   * Applies one event of the store.
   *
   * @return false when the event's page was ignored because the index is full
   */
  boolean apply(ObjectEvent event) {
    if (!event.tenant().equals(ObjectEvent.DEFAULT_TENANT)) {
      return true;
    }
    switch (event) {
      case ObjectEvent.Stored(_, var key, var medium) -> {
        return stored(key, medium);
      }
      case ObjectEvent.Removed(_, var key, var medium) -> {
        for (var from : ObjectEvent.Medium.values()) {
          if (medium == null || medium == from) {
            removed(key, from);
          }
        }
        return true;
      }
      case ObjectEvent.Cleared _ -> {
        clear();
        return true;
      }
    }
  }

  private boolean stored(String key, ObjectEvent.Medium medium) {
    var page = page(key);
    var object = page == null ? null : object(key);
    if (page == null || object == null) {
      return true;
    }
    var before = pages.get(page);
    if (before == null && pages.size() >= maxPages) {
      return false;
    }
    pages.put(
        page,
        with(before == null ? new long[2 * all.length] : before, object, medium, (a, b) -> a | b));
    return true;
  }

  private void removed(String key, ObjectEvent.Medium medium) {
    var page = page(key);
    var object = page == null ? null : object(key);
    var before = page == null ? null : pages.get(page);
    if (page == null || object == null || before == null) {
      return;
    }
    var after = with(before, object, medium, (a, b) -> a & ~b);
    if (Arrays.stream(after).allMatch(bits -> bits == 0)) {
      pages.remove(page);
    } else {
      pages.put(page, after);
    }
  }

  private long[] with(
      long[] before, int object, ObjectEvent.Medium medium, LongBinaryOperator change) {
    var after = before.clone();
    int word = object / Long.SIZE + (medium == ObjectEvent.Medium.DISK ? all.length : 0);
    after[word] = change.applyAsLong(after[word], 1L << object);
    return after;
  }

  private @Nullable PageHash page(String key) {
    return key.startsWith(prefix) ? PageHash.read(key, prefix.length()) : null;
  }

  private @Nullable Integer object(String key) {
    return objects.get(key.substring(prefix.length() + PageHash.DIGITS));
  }

  /** Whether all objects of {@code page} are in the store, each in memory or on disk. */
  boolean holds(PageHash page) {
    var bits = pages.get(page);
    if (bits == null) {
      return false;
    }
    for (int i = 0; i < all.length; i++) {
      if ((bits[i] | bits[all.length + i]) != all[i]) {
        return false;
      }
    }
    return true;
  }

  boolean isEmpty() {
    return pages.isEmpty();
  }

  /** Returns the number of pages of which at least one object is in the store. */
  int size() {
    return pages.size();
  }

  void clear() {
    pages.clear();
  }
}
