package io.dynamo.frontend.preprocess;

import io.dynamo.metrics.Metrics;
import io.dynamo.metrics.TokenizerMetrics;
import java.util.ArrayList;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.SequencedMap;
import java.util.concurrent.atomic.AtomicInteger;
import java.util.concurrent.atomic.AtomicLong;
import org.jspecify.annotations.Nullable;

/**
 * Caches the token ids of parts of prompts, so that only the new part of a growing chat is
 * tokenised. Shared by all models of a server; bounded in bytes, least recently used parts go
 * first. A part is found by its whole text: a collision of hashes costs a comparison, never a wrong
 * token. Clients write the parts, so their hash has a random key, and the parts are spread over
 * shelves with a lock each. Safe for concurrent use.
 */
public final class PrefixCache {
  /** The bytes of a part beside its characters and ids: objects, references, the map's entry. */
  private static final int ENTRY_BYTES = 160;

  private static final int MAX_SHELVES = 64;
  private static final long BYTES_PER_SHELF = 1 << 20; // at least: a small cache keeps strict order

  /** A part and its owner. Ordered by hash, for the trees in crowded buckets of the map. */
  private static final class Key implements Comparable<Key> {
    final long hash;
    final Object owner;
    final String part;

    Key(long hash, Object owner, String part) {
      this.hash = hash;
      this.owner = owner;
      this.part = part;
    }

    @Override
    public boolean equals(Object other) {
      return other instanceof Key key
          && hash == key.hash
          && owner.equals(key.owner)
          && part.equals(key.part);
    }

    @Override
    public int hashCode() {
      return Long.hashCode(hash);
    }

    @Override
    public int compareTo(Key other) {
      return Long.compare(hash, other.hash);
    }
  }

  private final long capacityBytes;
  private final SipHash hashing = SipHash.withRandomKey();
  private final List<LinkedHashMap<Key, int[]>> shelves; // each guarded by itself, in order of use
  private final AtomicLong bytes = new AtomicLong(); // of all shelves
  private final AtomicInteger nextShelf = new AtomicInteger(); // that gives room
  private final Metrics.Counter hits;
  private final Metrics.Counter misses;
  private final Metrics.Counter cachedTokens;
  private final Metrics.Counter uncachedTokens;

  /**
   * @param capacityBytes the bound of all parts together; 0 keeps none
   */
  public PrefixCache(long capacityBytes, Metrics metrics) {
    this.capacityBytes = capacityBytes;
    var made = new ArrayList<LinkedHashMap<Key, int[]>>();
    do {
      made.add(new LinkedHashMap<>(16, 0.75f, true));
    } while (made.size() < Math.min(MAX_SHELVES, capacityBytes / BYTES_PER_SHELF));
    shelves = List.copyOf(made);
    hits = metrics.counter(TokenizerMetrics.CACHE_HITS);
    misses = metrics.counter(TokenizerMetrics.CACHE_MISSES);
    cachedTokens = metrics.counter(TokenizerMetrics.CACHED_TOKENS);
    uncachedTokens = metrics.counter(TokenizerMetrics.UNCACHED_TOKENS);
    metrics.gauge(TokenizerMetrics.CACHE_BYTES, this::bytes);
    metrics.gauge(TokenizerMetrics.CACHE_ENTRIES, this::entries);
  }

  boolean isOn() {
    return capacityBytes > 0;
  }

  private Key key(Object owner, String part) {
    return new Key(hashing.of(part), owner, part);
  }

  private SequencedMap<Key, int[]> shelf(Key key) {
    return shelves.get((int) Long.remainderUnsigned(key.hash >>> Integer.SIZE, shelves.size()));
  }

  /** The ids of {@code part}; not to be changed. */
  int @Nullable [] find(Object owner, String part) {
    var key = key(owner, part);
    var shelf = shelf(key);
    synchronized (shelf) {
      return shelf.get(key);
    }
  }

  /** Stores the ids of {@code part}, unless they would take a large part of the capacity. */
  void keep(Object owner, String part, int[] ids) {
    long size = size(part, ids);
    if (size > capacityBytes / 4) {
      return;
    }
    var key = key(owner, part);
    var shelf = shelf(key);
    synchronized (shelf) {
      if (shelf.putIfAbsent(key, ids) != null) {
        return; // another request was faster
      }
    }
    bytes.addAndGet(size);
    while (bytes.get() > capacityBytes) {
      dropOldest(shelves.get(Math.floorMod(nextShelf.getAndIncrement(), shelves.size())));
    }
  }

  private void dropOldest(SequencedMap<Key, int[]> shelf) {
    synchronized (shelf) {
      var oldest = shelf.pollFirstEntry();
      if (oldest != null) {
        bytes.addAndGet(-size(oldest.getKey().part, oldest.getValue()));
      }
    }
  }

  /** Counts a prompt. */
  void count(int cached, int uncached) {
    (cached > 0 ? hits : misses).increment();
    cachedTokens.add(cached);
    uncachedTokens.add(uncached);
  }

  /** Drops all parts of {@code owner}. */
  void forget(Object owner) {
    for (var shelf : shelves) {
      synchronized (shelf) {
        shelf
            .entrySet()
            .removeIf(
                entry -> {
                  boolean goes = entry.getKey().owner.equals(owner);
                  bytes.addAndGet(goes ? -size(entry.getKey().part, entry.getValue()) : 0);
                  return goes;
                });
      }
    }
  }

  long bytes() {
    return bytes.get();
  }

  int entries() {
    int entries = 0;
    for (var shelf : shelves) {
      synchronized (shelf) {
        entries += shelf.size();
      }
    }
    return entries;
  }

  /** Two bytes for each character: a string with one that is not Latin-1 takes them. */
  private static long size(String part, int[] ids) {
    return ENTRY_BYTES + 2L * part.length() + 4L * ids.length;
  }
}
