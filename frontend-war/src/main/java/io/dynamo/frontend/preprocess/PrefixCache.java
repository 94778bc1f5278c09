package io.dynamo.frontend.preprocess;

import io.dynamo.metrics.Metrics;
import io.dynamo.metrics.TokenizerMetrics;
import java.util.LinkedHashMap;
import org.jspecify.annotations.Nullable;

/**
 * Token ids of parts of prompts, so that a chat that grows is tokenised only where it is new.
 * Shared by all models of a server; bounded in bytes, the part that was not used for longest goes
 * first. A part is found by its whole text: a collision of hashes costs a comparison, never a wrong
 * token. Safe for concurrent use.
 */
public final class PrefixCache {
  /** What a part costs beside its characters and ids: objects, references, the map's entry. */
  private static final int ENTRY_BYTES = 160;

  /** A part and whose it is. */
  private record Key(Object owner, String part) {}

  private final long capacityBytes;
  private final LinkedHashMap<Key, int[]> parts =
      new LinkedHashMap<>(16, 0.75f, true); // guarded by itself, in order of use
  private long bytes; // guarded by parts
  private final Metrics.Counter hits;
  private final Metrics.Counter misses;
  private final Metrics.Counter cachedTokens;
  private final Metrics.Counter uncachedTokens;

  /**
   * @param capacityBytes what the parts may take; 0 keeps none
   */
  public PrefixCache(long capacityBytes, Metrics metrics) {
    this.capacityBytes = capacityBytes;
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

  /** The ids of {@code part}; not to be changed. */
  int @Nullable [] find(Object owner, String part) {
    var key = new Key(owner, part);
    int _ = part.hashCode(); // outside the lock; a string remembers it
    synchronized (parts) {
      return parts.get(key);
    }
  }

  /** Remembers the ids of {@code part}, unless they would fill a good share of the room. */
  void keep(Object owner, String part, int[] ids) {
    long size = size(part, ids);
    if (size > capacityBytes / 4) {
      return;
    }
    synchronized (parts) {
      if (parts.putIfAbsent(new Key(owner, part), ids) != null) {
        return; // another request was faster
      }
      bytes += size;
      for (var oldest = parts.entrySet().iterator(); bytes > capacityBytes && oldest.hasNext(); ) {
        var entry = oldest.next();
        bytes -= size(entry.getKey().part, entry.getValue());
        oldest.remove();
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
    synchronized (parts) {
      parts
          .entrySet()
          .removeIf(
              entry -> {
                boolean goes = entry.getKey().owner.equals(owner);
                bytes -= goes ? size(entry.getKey().part, entry.getValue()) : 0;
                return goes;
              });
    }
  }

  long bytes() {
    synchronized (parts) {
      return bytes;
    }
  }

  int entries() {
    synchronized (parts) {
      return parts.size();
    }
  }

  /** Two bytes for each character: a string with one that is not Latin-1 takes them. */
  private static long size(String part, int[] ids) {
    return ENTRY_BYTES + 2L * part.length() + 4L * ids.length;
  }
}
