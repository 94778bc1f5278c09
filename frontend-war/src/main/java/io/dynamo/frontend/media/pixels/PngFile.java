package io.dynamo.frontend.media.pixels;

import java.lang.invoke.MethodHandles;
import java.lang.invoke.VarHandle;
import java.nio.ByteOrder;
import java.util.Arrays;

/**
 * A PNG without what is no picture: texts, times, profiles and suggested palettes are left out, so
 * that no decoder reads them.
 */
final class PngFile {
  private static final VarHandle BIG =
      MethodHandles.byteArrayViewVarHandle(int[].class, ByteOrder.BIG_ENDIAN);
  private static final int SIGNATURE = 8;
  private static final int AROUND = 12; // bytes of a chunk that are no data: length, type, checksum
  private static final int HEADER = 0x49484452; // IHDR
  private static final int PALETTE = 0x504c5445; // PLTE
  private static final int TRANSPARENCY = 0x74524e53; // tRNS
  private static final int PIXELS = 0x49444154; // IDAT
  private static final int END = 0x49454e44; // IEND
  private static final int PALETTE_BYTES = 768;
  private static final int TRANSPARENCY_BYTES = 256;

  private PngFile() {}

  /**
   * Returns the picture of a file.
   *
   * @throws DamagedImageException when it is cut, or a chunk is larger than it may be
   */
  static byte[] of(byte[] file) throws DamagedImageException {
    var kept = new byte[file.length];
    System.arraycopy(file, 0, kept, 0, Math.min(SIGNATURE, file.length));
    int size = SIGNATURE;
    int at = SIGNATURE;
    while (at + AROUND <= file.length) {
      int data = (int) BIG.get(file, at);
      int type = (int) BIG.get(file, at + Integer.BYTES);
      if (data < 0 || data > file.length - at - AROUND || data > mostOf(type)) {
        throw new DamagedImageException();
      }
      int length = data + AROUND;
      if (isNeeded(type)) {
        System.arraycopy(file, at, kept, size, length);
        size += length;
      }
      if (type == END) {
        return Arrays.copyOf(kept, size);
      }
      at += length;
    }
    throw new DamagedImageException();
  }

  private static int mostOf(int type) {
    return switch (type) {
      case PALETTE -> PALETTE_BYTES;
      case TRANSPARENCY -> TRANSPARENCY_BYTES;
      default -> Integer.MAX_VALUE;
    };
  }

  private static boolean isNeeded(int type) {
    return type == HEADER
        || type == PALETTE
        || type == TRANSPARENCY
        || type == PIXELS
        || type == END;
  }
}
