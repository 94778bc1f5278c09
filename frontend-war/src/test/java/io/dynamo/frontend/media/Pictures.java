package io.dynamo.frontend.media;

import java.awt.image.BufferedImage;
import java.io.ByteArrayOutputStream;
import java.io.IOException;
import java.io.UncheckedIOException;
import java.nio.ByteBuffer;
import java.util.zip.CRC32;
import javax.imageio.ImageIO;

/** Image files for tests. */
final class Pictures {
  private static final byte[] MAGIC = {(byte) 0x89, 'P', 'N', 'G', '\r', '\n', 0x1a, '\n'};

  private Pictures() {}

  /** A picture as the JDK writes it. */
  static byte[] of(String format, int width, int height) {
    var image = new BufferedImage(width, height, BufferedImage.TYPE_INT_RGB);
    for (int x = 0; x < width; x++) {
      image.setRGB(x, x % height, 0xff8800);
    }
    var out = new ByteArrayOutputStream();
    try {
      if (!ImageIO.write(image, format, out)) {
        throw new IllegalArgumentException(format);
      }
    } catch (IOException e) {
      throw new UncheckedIOException(e);
    }
    return out.toByteArray();
  }

  static byte[] png(int width, int height) {
    return of("png", width, height);
  }

  /** A PNG that claims a size and has no pixels. */
  static byte[] claimed(int width, int height) {
    var header = ByteBuffer.allocate(17);
    header.put(new byte[] {'I', 'H', 'D', 'R'}).putInt(width).putInt(height);
    header.put(new byte[] {8, 2, 0, 0, 0});
    var crc = new CRC32();
    crc.update(header.array());
    return ByteBuffer.allocate(MAGIC.length + 4 + 17 + 4)
        .put(MAGIC)
        .putInt(13)
        .put(header.array())
        .putInt((int) crc.getValue())
        .array();
  }
}
