package io.dynamo.frontend.media.pixels;

import java.util.Arrays;
import org.jspecify.annotations.Nullable;

/**
 * A JPEG without what is no picture: profiles of colours, previews and comments are left out, so
 * that no decoder reads them.
 *
 * @param isGathered whether several scans make the picture, which is kept meanwhile
 */
record JpegFile(byte[] bytes, int components, boolean isGathered) {
  /** Scans that a picture is read in, at most: each may cost as much as all pixels. */
  static final int MOST_SCANS = 64;

  private static final int BITS = 8;

  /** Returns the picture of a file; null for one of a kind that the JDK does not decode. */
  static @Nullable JpegFile of(byte[] file) {
    var kept = new byte[file.length];
    int size = 2;
    System.arraycopy(file, 0, kept, 0, Math.min(size, file.length));
    int components = 0;
    boolean isProgressive = false;
    int at = 2;
    while (at + 4 <= file.length && (file[at] & 0xff) == 0xff) {
      int marker = file[at + 1] & 0xff;
      if (marker == 0xff) { // filling
        at++;
        continue;
      }
      int length = 2 + ((file[at + 2] & 0xff) << 8) + (file[at + 3] & 0xff);
      if (length < 4 || at + length > file.length) {
        return null;
      }
      if (isFrame(marker)) {
        if (components != 0 || length < 10 || file[at + 4] != BITS || marker > 0xc2) {
          return null; // arithmetic, lossless, hierarchical, or of other depth
        }
        components = file[at + 9] & 0xff;
        isProgressive = marker == 0xc2;
      }
      if (marker == 0xda) { // the rest is pixels, and tables between them
        boolean isKnown = components == 1 || components == 3; // others are inks
        int scans = scans(file, at);
        if (!isKnown || scans > MOST_SCANS) {
          return null;
        }
        System.arraycopy(file, at, kept, size, file.length - at);
        return new JpegFile(
            Arrays.copyOf(kept, size + file.length - at), components, isProgressive || scans > 1);
      }
      if (isNeeded(marker)) {
        System.arraycopy(file, at, kept, size, length);
        size += length;
      }
      at += length;
    }
    return null;
  }

  private static boolean isFrame(int marker) {
    return marker >= 0xc0 && marker <= 0xcf && marker != 0xc4 && marker != 0xc8 && marker != 0xcc;
  }

  /** Whether a segment says how the picture is coded; two of the applications' do. */
  private static boolean isNeeded(int marker) {
    boolean isOfApplication = marker >= 0xe0 && marker <= 0xef;
    return marker != 0xfe && (!isOfApplication || marker == 0xe0 || marker == 0xee);
  }

  /** Counts the scans up to the end of the picture; no pixel is written as a marker. */
  private static int scans(byte[] file, int from) {
    int count = 0;
    for (int i = from; i + 1 < file.length; i++) {
      if ((file[i] & 0xff) == 0xff) {
        int marker = file[i + 1] & 0xff;
        if (marker == 0xd9) {
          break;
        }
        count += marker == 0xda ? 1 : 0;
      }
    }
    return count;
  }
}
