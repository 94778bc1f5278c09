package io.dynamo.frontend.media.pixels;

import java.awt.image.BufferedImage;
import java.io.IOException;
import java.lang.foreign.MemorySegment;
import java.lang.invoke.MethodHandles;
import java.lang.invoke.VarHandle;
import java.nio.ByteOrder;
import java.util.Iterator;
import java.util.concurrent.atomic.AtomicBoolean;
import java.util.function.BooleanSupplier;
import javax.imageio.ImageIO;
import javax.imageio.ImageReader;
import org.jspecify.annotations.Nullable;

/**
 * An image file that the JDK decodes: a PNG, JPEG, GIF (its first picture) or BMP. Only forms whose
 * cost follows from the header are accepted; nothing is decoded before {@link #decode}.
 *
 * @param format of the JDK's reader
 * @param heldBytes about as many as decoding takes, beside the file and the result
 */
record ImageFile(byte[] bytes, String format, int width, int height, long heldBytes) {
  static final int CHANNELS = 3;

  private static final int MOST_SIDE = 65_535; // readers keep some rows beside the picture

  private static final VarHandle LITTLE =
      MethodHandles.byteArrayViewVarHandle(int[].class, ByteOrder.LITTLE_ENDIAN);
  private static final int PNG_DEPTH = 24;
  private static final int BMP_OFFSET = 10;
  private static final int BMP_HEADER = 14;
  private static final int BMP_COMPRESSION = 30;
  private static final int BMP_COLOURS = 70;
  private static final int BMP_COLOURS_END = 74;
  private static final int MOST_BMP_COMPRESSION = 3; // above are files within files

  /**
   * Returns a file that can be decoded; null for one that is left to workers.
   *
   * @param type the media type by its first bytes
   * @param width by its header, as is {@code height}
   * @throws DamagedImageException when the file is cut
   */
  static @Nullable ImageFile of(byte[] file, String type, int width, int height)
      throws DamagedImageException {
    long pixels = (long) width * height;
    if (width < 1
        || height < 1
        || Math.max(width, height) > MOST_SIDE
        || CHANNELS * pixels > Integer.MAX_VALUE) {
      return null;
    }
    return switch (type) {
      case "image/png" -> {
        int channels = file.length > PNG_DEPTH + 1 ? channelsOfPng(file[PNG_DEPTH + 1]) : 0;
        int bytes = channels > 0 && file[PNG_DEPTH] == 16 ? 2 * channels : channels;
        yield channels == 0
            ? null
            : new ImageFile(PngFile.of(file), "png", width, height, bytes * pixels + file.length);
      }
      case "image/jpeg" -> {
        var jpeg = JpegFile.of(file);
        int bytes = jpeg == null ? 0 : jpeg.components() * (jpeg.isGathered() ? 3 : 1);
        yield jpeg == null
            ? null
            : new ImageFile(jpeg.bytes(), "jpeg", width, height, bytes * pixels + file.length);
      }
      case "image/gif" -> new ImageFile(file, "gif", width, height, pixels);
      case "image/bmp" ->
          isPlainBmp(file) ? new ImageFile(file, "bmp", width, height, 4 * pixels) : null;
      default -> null;
    };
  }

  /** The channels of a PNG's colour type, and one for what it says of transparent colours. */
  private static int channelsOfPng(int colourType) {
    return switch (colourType) {
      case 0, 3 -> 2;
      case 2, 6 -> 4;
      case 4 -> 3;
      default -> 0;
    };
  }

  /** Whether a BMP names no other file, profile or format for its pixels. */
  private static boolean isPlainBmp(byte[] file) {
    if (file.length < BMP_COMPRESSION + 4) {
      return false;
    }
    int compression = little(file, BMP_COMPRESSION);
    int offset = little(file, BMP_OFFSET);
    int header = little(file, BMP_HEADER);
    boolean isProfiled =
        header > 108
            && (file.length < BMP_COLOURS_END
                || little(file, BMP_COLOURS) == 0x4d424544 // MBED
                || little(file, BMP_COLOURS) == 0x4c494e4b); // LINK
    return compression >= 0
        && compression <= MOST_BMP_COMPRESSION
        && offset > 0
        && offset < file.length
        && header <= 124
        && !isProfiled;
  }

  private static int little(byte[] file, int from) {
    return (int) LITTLE.get(file, from);
  }

  /** The bytes of the decoded image. */
  long pixelBytes() {
    return (long) CHANNELS * width * height;
  }

  /**
   * Decodes the image to rows of red, green and blue bytes. Alpha is dropped, grey repeated.
   *
   * @param into of {@link #pixelBytes}
   * @param stop asked often; true ends the work soon
   * @return false when it was stopped, holds a picture of another size than its header says, or is
   *     one that the JDK does not read but others may
   * @throws DamagedImageException when the file is damaged
   */
  boolean decode(MemorySegment into, BooleanSupplier stop) throws DamagedImageException {
    var reader = reader();
    if (reader == null) {
      return false;
    }
    try (var input = new FileInput(bytes, stop)) {
      reader.setInput(input, true, true);
      if (reader.getWidth(0) != width || reader.getHeight(0) != height) {
        return false;
      }
      var doubts = new AtomicBoolean(); // libjpeg makes up what a damaged file lacks
      reader.addIIOReadWarningListener((_, _) -> doubts.set(true));
      var image = reader.read(0);
      if (doubts.get() || image.getWidth() != width || image.getHeight() != height) {
        return false;
      }
      return new PixelRows(image).copyTo(into, stop);
    } catch (IOException | RuntimeException e) { // readers throw anything at damaged files
      if (stop.getAsBoolean() || format.equals("bmp")) { // whose many forms the JDK has not all
        return false;
      }
      throw new DamagedImageException();
    } finally {
      reader.dispose();
    }
  }

  /** Returns the JDK's own reader, and no other that an application brings. */
  private @Nullable ImageReader reader() {
    Iterator<ImageReader> all = ImageIO.getImageReadersByFormatName(format);
    while (all.hasNext()) {
      var reader = all.next();
      if (reader.getClass().getModule().equals(BufferedImage.class.getModule())) {
        return reader;
      }
    }
    return null;
  }
}
