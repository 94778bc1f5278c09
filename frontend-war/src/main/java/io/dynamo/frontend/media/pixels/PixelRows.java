package io.dynamo.frontend.media.pixels;

import java.awt.image.BufferedImage;
import java.awt.image.ComponentColorModel;
import java.awt.image.IndexColorModel;
import java.awt.image.Raster;
import java.lang.foreign.MemorySegment;
import java.lang.foreign.ValueLayout;
import java.util.function.BooleanSupplier;

/**
 * The rows of a decoded image as bytes of red, green and blue. Samples are taken as they are: no
 * profile or gamma is applied, as the libraries that models were trained with do not either.
 */
final class PixelRows {
  private static final int BYTE_MAX = 255;

  private final BufferedImage image;
  private final Raster raster;
  private final int width;
  private final int[] palette; // of an indexed image; else empty
  private final int bands; // of samples as they are; 0 for packed pixels
  private final int most; // the largest sample

  PixelRows(BufferedImage image) {
    this.image = image;
    this.raster = image.getRaster();
    this.width = image.getWidth();
    if (image.getColorModel() instanceof IndexColorModel model) {
      this.palette = new int[model.getMapSize()];
      model.getRGBs(palette);
    } else {
      this.palette = new int[0];
    }
    boolean isPlain = image.getColorModel() instanceof ComponentColorModel;
    this.bands = isPlain ? raster.getNumBands() : 0;
    this.most = isPlain ? (1 << image.getColorModel().getComponentSize(0)) - 1 : BYTE_MAX;
  }

  /** Copies all rows; false when it was stopped. */
  boolean copyTo(MemorySegment into, BooleanSupplier stop) {
    var samples = new int[width * Math.max(1, bands)];
    var row = new byte[ImageFile.CHANNELS * width];
    for (int y = 0; y < image.getHeight(); y++) {
      if (stop.getAsBoolean()) {
        return false;
      }
      if (palette.length > 0) {
        raster.getSamples(0, y, width, 1, 0, samples);
        for (int x = 0; x < width; x++) {
          put(row, x, samples[x] < palette.length ? palette[samples[x]] : 0);
        }
      } else if (bands > 0) {
        raster.getPixels(0, y, width, 1, samples);
        plain(samples, row);
      } else {
        image.getRGB(0, y, width, 1, samples, 0, width);
        for (int x = 0; x < width; x++) {
          put(row, x, samples[x]);
        }
      }
      MemorySegment.copy(row, 0, into, ValueLayout.JAVA_BYTE, (long) y * row.length, row.length);
    }
    return true;
  }

  private void plain(int[] samples, byte[] row) {
    int next = bands < ImageFile.CHANNELS ? 0 : 1; // grey is all three
    for (int x = 0; x < width; x++) {
      for (int channel = 0; channel < ImageFile.CHANNELS; channel++) {
        int sample = samples[x * bands + channel * next];
        row[ImageFile.CHANNELS * x + channel] =
            (byte) (most == BYTE_MAX ? sample : (sample * (long) BYTE_MAX + most / 2) / most);
      }
    }
  }

  private static void put(byte[] row, int x, int rgb) {
    row[ImageFile.CHANNELS * x] = (byte) (rgb >> 16);
    row[ImageFile.CHANNELS * x + 1] = (byte) (rgb >> 8);
    row[ImageFile.CHANNELS * x + 2] = (byte) rgb;
  }
}
