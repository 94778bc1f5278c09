package io.dynamo.frontend.media;

import java.nio.charset.StandardCharsets;
import java.security.MessageDigest;
import java.security.NoSuchAlgorithmException;
import java.util.HexFormat;
import java.util.LinkedHashMap;
import java.util.function.LongSupplier;
import org.jspecify.annotations.Nullable;

/**
 * The sizes of images that were measured of late, so that the turns of a conversation measure each
 * image once. Known by a digest of their URL for which nobody finds a second URL. Bounded in number
 * and age. Safe for concurrent use.
 */
final class ImageSizes {
  private static final int MOST = 10_000;
  private static final long KEPT_NANOS = 3_600_000_000_000L;

  private record Entry(MeasuredImage image, long endNanos) {}

  private final LongSupplier nanoClock;
  private final LinkedHashMap<String, Entry> entries =
      new LinkedHashMap<>(16, 0.75f, true); // guarded by this

  ImageSizes(LongSupplier nanoClock) {
    this.nanoClock = nanoClock;
  }

  @Nullable MeasuredImage get(String url) {
    var key = key(url);
    synchronized (this) {
      var entry = entries.get(key);
      if (entry != null && entry.endNanos - nanoClock.getAsLong() <= 0) {
        entries.remove(key);
        return null;
      }
      return entry == null ? null : entry.image;
    }
  }

  void put(String url, MeasuredImage image) {
    var key = key(url);
    synchronized (this) {
      entries.put(key, new Entry(image, nanoClock.getAsLong() + KEPT_NANOS));
      if (entries.size() > MOST) {
        entries.pollFirstEntry();
      }
    }
  }

  private static String key(String url) {
    try {
      var digest = MessageDigest.getInstance("SHA-256");
      return HexFormat.of().formatHex(digest.digest(url.getBytes(StandardCharsets.UTF_8)));
    } catch (NoSuchAlgorithmException e) {
      throw new IllegalStateException("the JDK has no SHA-256", e);
    }
  }
}
