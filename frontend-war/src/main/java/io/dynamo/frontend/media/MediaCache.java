package io.dynamo.frontend.media;

import java.util.LinkedHashMap;
import java.util.function.LongSupplier;
import org.jspecify.annotations.Nullable;

/**
 * Media that were fetched, by their URL and how it was fetched: those used last, within a bound of
 * bytes, each for as long as its server said. Arrays are shared and never changed. Safe for
 * concurrent use.
 */
public final class MediaCache {
  private static final int ENTRY_BYTES = 256; // beside URL and medium
  private static final long SECOND = 1_000_000_000;

  /**
   * The identity of a fetch: those with the same one have the same result.
   *
   * @param rules that redirects were checked by, too
   */
  record Key(MediaKind kind, String url, FetchRules rules) {}

  private record Entry(MediaFetcher.Fetched media, long bytes, long endNanos) {}

  private final long maxBytes;
  private final LongSupplier nanoClock;
  private final LinkedHashMap<Key, Entry> entries =
      new LinkedHashMap<>(16, 0.75f, true); // guarded by this
  private long bytes; // guarded by this

  /**
   * @param maxBytes 0 keeps nothing
   */
  public MediaCache(long maxBytes, LongSupplier nanoClock) {
    this.maxBytes = maxBytes;
    this.nanoClock = nanoClock;
  }

  /** Returns what was fetched; null when it is not kept any more. */
  synchronized MediaFetcher.@Nullable Fetched get(Key key) {
    var entry = entries.get(key);
    if (entry == null) {
      return null;
    }
    if (entry.endNanos - nanoClock.getAsLong() <= 0) {
      remove(key);
      return null;
    }
    return entry.media;
  }

  /** Keeps what was fetched, if its server allows that and it has a quarter of the room at most. */
  synchronized void put(Key key, MediaFetcher.Fetched media) {
    long size = media.bytes().length + 2L * key.url.length() + ENTRY_BYTES;
    if (media.seconds() <= 0 || size > maxBytes / 4) {
      return;
    }
    remove(key);
    entries.put(key, new Entry(media, size, nanoClock.getAsLong() + media.seconds() * SECOND));
    bytes += size;
    var eldest = entries.entrySet().iterator();
    while (bytes > maxBytes) {
      bytes -= eldest.next().getValue().bytes;
      eldest.remove();
    }
  }

  private void remove(Key key) {
    var former = entries.remove(key);
    if (former != null) {
      bytes -= former.bytes;
    }
  }

  /** Returns the bytes that are kept. */
  public synchronized long bytes() {
    return bytes;
  }

  /** Returns the number of media that are kept. */
  public synchronized int size() {
    return entries.size();
  }
}
