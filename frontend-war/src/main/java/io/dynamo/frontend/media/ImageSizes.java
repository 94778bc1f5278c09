package io.dynamo.frontend.media;

import java.util.LinkedHashMap;
import java.util.function.LongSupplier;
import org.jspecify.annotations.Nullable;

/**
 * The sizes of images that were measured of late, so that the turns of a conversation measure each
 * image once. Bounded in number and age. Safe for concurrent use.
 */
final class ImageSizes {
  private static final int MOST = 10_000;
  private static final long KEPT_NANOS = 3_600_000_000_000L;

  private record Entry(MeasuredImage image, long endNanos) {}

  private final LongSupplier nanoClock;
  private final LinkedHashMap<Long, Entry> entries =
      new LinkedHashMap<>(16, 0.75f, true); // guarded by this

  ImageSizes(LongSupplier nanoClock) {
    this.nanoClock = nanoClock;
  }

  synchronized @Nullable MeasuredImage get(long hash) {
    var entry = entries.get(hash);
    if (entry != null && entry.endNanos - nanoClock.getAsLong() <= 0) {
      entries.remove(hash);
      return null;
    }
    return entry == null ? null : entry.image;
  }

  synchronized void put(MeasuredImage image) {
    entries.put(image.hash(), new Entry(image, nanoClock.getAsLong() + KEPT_NANOS));
    if (entries.size() > MOST) {
      entries.pollFirstEntry();
    }
  }
}
