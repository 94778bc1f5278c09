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
  private static final int START_OF_SCAN = 0xda;
  private static final int END_OF_IMAGE = 0xd9;

  /** Returns the picture of a file; null for one that is cut, or of a kind that is not decoded. */
  static @Nullable JpegFile of(byte[] file) {
    return new Reading(file).read();
  }

  /** The way through the segments of a file. */
  private static final class Reading {
    private final byte[] file;
    private final byte[] kept;
    private int size; // of what is kept
    private int at;
    private int components;
    private boolean isProgressive;
    private int scans;

    Reading(byte[] file) {
      this.file = file;
      this.kept = new byte[file.length];
    }

    @Nullable JpegFile read() {
      keep(2); // the start of the image
      while (at + 2 <= file.length && unsigned(at) == 0xff) {
        int marker = unsigned(at + 1);
        if (marker == 0xff) { // filling
          at++;
        } else if (marker == END_OF_IMAGE) {
          keep(2);
          return scans == 0
              ? null
              : new JpegFile(Arrays.copyOf(kept, size), components, isProgressive || scans > 1);
        } else if (!readSegment(marker)) {
          return null;
        }
      }
      return null;
    }

    /** Keeps or leaves out a segment, with the pixels behind it; false for what is not decoded. */
    private boolean readSegment(int marker) {
      if (marker <= 0x01 || (marker >= 0xd0 && marker <= 0xd8) || at + 4 > file.length) {
        return false; // none of a segment
      }
      int length = 2 + (unsigned(at + 2) << 8) + unsigned(at + 3);
      if (length < 4 || length > file.length - at || !readFrame(marker, length)) {
        return false;
      }
      if (isNeeded(marker)) {
        keep(length);
      } else {
        at += length;
      }
      if (marker == START_OF_SCAN) {
        boolean isKnown = components == 1 || components == 3; // others are inks
        if (!isKnown || ++scans > MOST_SCANS) {
          return false;
        }
        keep(pixels());
      }
      return true;
    }

    private boolean readFrame(int marker, int length) {
      if (!isFrame(marker)) {
        return true;
      }
      if (components != 0 || length < 10 || unsigned(at + 4) != BITS || marker > 0xc2) {
        return false; // arithmetic, lossless, hierarchical, or of other depth
      }
      components = unsigned(at + 9);
      isProgressive = marker == 0xc2;
      return true;
    }

    /** The bytes of a scan up to the next marker: 0xff within them has 0 or a restart behind it. */
    private int pixels() {
      int end = at;
      while (end < file.length) {
        if (unsigned(end) == 0xff && end + 1 < file.length) {
          int next = unsigned(end + 1);
          if (next != 0 && (next < 0xd0 || next > 0xd7)) {
            break;
          }
        }
        end++;
      }
      return end - at;
    }

    private void keep(int length) {
      int whole = Math.min(length, file.length - at);
      System.arraycopy(file, at, kept, size, whole);
      size += whole;
      at += whole;
    }

    private int unsigned(int index) {
      return file[index] & 0xff;
    }
  }

  private static boolean isFrame(int marker) {
    return marker >= 0xc0 && marker <= 0xcf && marker != 0xc4 && marker != 0xc8 && marker != 0xcc;
  }

  /** Whether a segment says how the picture is coded; two of the applications' do. */
  private static boolean isNeeded(int marker) {
    boolean isOfApplication = marker >= 0xe0 && marker <= 0xef;
    return marker != 0xfe && (!isOfApplication || marker == 0xe0 || marker == 0xee);
  }
}
