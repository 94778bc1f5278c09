package io.dynamo.frontend.media.pixels;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatExceptionOfType;

import java.awt.Color;
import java.awt.Transparency;
import java.awt.image.BufferedImage;
import java.awt.image.ComponentColorModel;
import java.awt.image.DataBuffer;
import java.awt.image.Raster;
import java.io.ByteArrayInputStream;
import java.io.ByteArrayOutputStream;
import java.io.IOException;
import java.lang.foreign.Arena;
import java.lang.foreign.MemorySegment;
import java.lang.foreign.ValueLayout;
import java.nio.charset.StandardCharsets;
import java.util.Arrays;
import java.util.List;
import java.util.Objects;
import java.util.Random;
import java.util.concurrent.atomic.AtomicInteger;
import javax.imageio.IIOImage;
import javax.imageio.ImageIO;
import javax.imageio.ImageWriteParam;
import javax.imageio.stream.MemoryCacheImageOutputStream;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;

class ImageFileTest {
  private static final int WIDTH = 37;
  private static final int HEIGHT = 21;

  private static BufferedImage picture(int type) {
    var random = new Random(3);
    var image = new BufferedImage(WIDTH, HEIGHT, type);
    for (int y = 0; y < HEIGHT; y++) {
      for (int x = 0; x < WIDTH; x++) {
        image.setRGB(x, y, random.nextInt());
      }
    }
    return image;
  }

  private static byte[] file(String format, BufferedImage image) throws IOException {
    var out = new ByteArrayOutputStream();
    assertThat(ImageIO.write(image, format, out)).as(format).isTrue();
    return out.toByteArray();
  }

  static byte[] progressive(BufferedImage image) throws IOException {
    var writer = ImageIO.getImageWritersByFormatName("jpeg").next();
    var options = writer.getDefaultWriteParam();
    options.setProgressiveMode(ImageWriteParam.MODE_DEFAULT);
    var out = new ByteArrayOutputStream();
    try (var stream = new MemoryCacheImageOutputStream(out)) {
      writer.setOutput(stream);
      writer.write(null, new IIOImage(image, null, null), options);
    }
    return out.toByteArray();
  }

  private static byte[] pixels(byte[] file, String type) throws DamagedImageException {
    var image = Objects.requireNonNull(ImageFile.of(file, type, WIDTH, HEIGHT), type);
    var into = Arena.ofAuto().allocate(image.pixelBytes());
    assertThat(image.decode(into, () -> false)).isTrue();
    return into.toArray(ValueLayout.JAVA_BYTE);
  }

  private static byte[] shown(byte[] file) throws IOException {
    var image = ImageIO.read(new ByteArrayInputStream(file));
    var rows = new byte[3 * WIDTH * HEIGHT];
    for (int i = 0; i < WIDTH * HEIGHT; i++) {
      var colour = new Color(image.getRGB(i % WIDTH, i / WIDTH));
      rows[3 * i] = (byte) colour.getRed();
      rows[3 * i + 1] = (byte) colour.getGreen();
      rows[3 * i + 2] = (byte) colour.getBlue();
    }
    return rows;
  }

  @ParameterizedTest
  @CsvSource({
    "png, image/png, 1",
    "png, image/png, 2", // with alpha, which is dropped
    "png, image/png, 13", // a palette
    "bmp, image/bmp, 1",
    "bmp, image/bmp, 13",
    "jpeg, image/jpeg, 1",
    "gif, image/gif, 13"
  })
  void pixelsAreThoseOfTheFile(String format, String type, int kind) throws Exception {
    var file = file(format, picture(kind));
    assertThat(pixels(file, type)).isEqualTo(shown(file));
  }

  @Test
  void progressivePixelsAreThoseOfTheFile() throws Exception {
    var file = progressive(picture(BufferedImage.TYPE_INT_RGB));
    assertThat(pixels(file, "image/jpeg")).isEqualTo(shown(file));
  }

  @Test
  void greyIsRepeatedAsItIsStored() throws Exception {
    var image = new BufferedImage(WIDTH, HEIGHT, BufferedImage.TYPE_BYTE_GRAY);
    image.getRaster().setSample(5, 2, 0, 100);
    var rows = pixels(file("png", image), "image/png");
    int at = 3 * (2 * WIDTH + 5);
    assertThat(Arrays.copyOfRange(rows, at, at + 6)).containsExactly(100, 100, 100, 0, 0, 0);
  }

  @Test
  void sixteenBitsAreScaledToEight() throws Exception {
    var model =
        new ComponentColorModel(
            new BufferedImage(1, 1, BufferedImage.TYPE_INT_RGB).getColorModel().getColorSpace(),
            false,
            false,
            Transparency.OPAQUE,
            DataBuffer.TYPE_USHORT);
    var raster = Raster.createInterleavedRaster(DataBuffer.TYPE_USHORT, WIDTH, HEIGHT, 3, null);
    raster.setPixel(1, 0, new int[] {65535, 32768, 257});
    var rows = pixels(file("png", new BufferedImage(model, raster, false, null)), "image/png");
    assertThat(Arrays.copyOfRange(rows, 3, 6)).containsExactly(255, 128, 1);
  }

  @ParameterizedTest
  @CsvSource({"png, image/png", "gif, image/gif"})
  void cutFilesAreDamaged(String format, String type) throws Exception {
    var whole = file(format, picture(BufferedImage.TYPE_INT_RGB));
    var cut = Arrays.copyOf(whole, whole.length / 2);
    assertThatExceptionOfType(DamagedImageException.class).isThrownBy(() -> pixels(cut, type));
  }

  /** The JDK fills a cut JPEG up, and does not know all forms of BMPs. */
  @Test
  void doubtfulFilesAreLeftAlone() throws Exception {
    var jpeg = file("jpeg", picture(BufferedImage.TYPE_INT_RGB));
    var cut = Arrays.copyOf(jpeg, jpeg.length / 2);
    assertThat(ImageFile.of(cut, "image/jpeg", WIDTH, HEIGHT)).isNull();
    var closed = cut.clone();
    closed[cut.length - 2] = (byte) 0xff;
    closed[cut.length - 1] = (byte) 0xd9; // as if it were whole
    var image = Objects.requireNonNull(ImageFile.of(closed, "image/jpeg", WIDTH, HEIGHT));
    assertThat(image.decode(into(), () -> false)).isFalse();

    var bmp = file("bmp", picture(BufferedImage.TYPE_INT_RGB));
    var half = Arrays.copyOf(bmp, bmp.length / 2);
    var other = Objects.requireNonNull(ImageFile.of(half, "image/bmp", WIDTH, HEIGHT));
    assertThat(other.decode(into(), () -> false)).isFalse();
  }

  @Test
  void chunksOfPngsThatAreNoPictureAreNotRead() throws Exception {
    var file = file("png", picture(BufferedImage.TYPE_BYTE_INDEXED));
    int pixels = new String(file, StandardCharsets.ISO_8859_1).indexOf("IDAT") - 4;
    for (var type : List.of("sPLT", "iCCP", "tEXt", "zzZz")) {
      var with = new ByteArrayOutputStream();
      with.write(file, 0, pixels);
      with.write(new byte[] {0, 0, 1, 0});
      with.writeBytes(type.getBytes(StandardCharsets.US_ASCII));
      with.writeBytes(new byte[256 + 4]);
      with.write(file, pixels, file.length - pixels);
      assertThat(PngFile.of(with.toByteArray())).as(type).isEqualTo(file);
    }
  }

  @Test
  void pngsWithChunksOfAnotherSizeThanTheyMayHaveAreDamaged() throws Exception {
    var file = file("png", picture(BufferedImage.TYPE_BYTE_INDEXED));
    int palette = new String(file, StandardCharsets.ISO_8859_1).indexOf("PLTE") - 4;
    for (int most : new int[] {-1, 1024, Integer.MAX_VALUE}) {
      var other = file.clone();
      for (int i = 0; i < 4; i++) {
        other[palette + i] = (byte) (most >> (24 - 8 * i));
      }
      assertThatExceptionOfType(DamagedImageException.class).isThrownBy(() -> PngFile.of(other));
    }
  }

  @Test
  void pixelsThatAreNoneAreDamaged() throws Exception {
    var random = new Random(1);
    for (var format : new String[] {"png", "jpeg", "gif", "bmp"}) {
      var whole = file(format, picture(BufferedImage.TYPE_INT_RGB));
      for (int i = 0; i < 200; i++) {
        var file = whole.clone();
        for (int j = 0; j < 8; j++) {
          file[random.nextInt(file.length)] = (byte) random.nextInt();
        }
        try {
          var image = ImageFile.of(file, "image/" + format, WIDTH, HEIGHT);
          if (image != null) {
            image.decode(into(), () -> false);
          }
        } catch (DamagedImageException expected) {
          assertThat(expected).hasMessageContaining("damaged");
        }
      }
    }
  }

  private static MemorySegment into() {
    return Arena.ofAuto().allocate(3L * WIDTH * HEIGHT);
  }

  @Test
  void picturesOfAnotherSizeThanTheHeadersAreLeftAlone() throws Exception {
    var gif = file("gif", picture(BufferedImage.TYPE_BYTE_INDEXED));
    gif[6] = WIDTH - 1; // the screen, whose frame would not fit
    var image = Objects.requireNonNull(ImageFile.of(gif, "image/gif", WIDTH - 1, HEIGHT));
    assertThat(image.decode(into(), () -> false)).isFalse();
  }

  @Test
  void workEndsWhenItIsStopped() throws Exception {
    var file = file("png", picture(BufferedImage.TYPE_INT_RGB));
    var image = Objects.requireNonNull(ImageFile.of(file, "image/png", WIDTH, HEIGHT));
    var asked = new AtomicInteger();
    assertThat(image.decode(into(), () -> asked.incrementAndGet() > 3)).isFalse();
    assertThat(asked.get()).isLessThan(10);
  }

  @Test
  void jpegsOfManyScansOrOtherColoursAreLeftAlone() throws Exception {
    var file = progressive(picture(BufferedImage.TYPE_INT_RGB));
    int end = file.length - 2; // before its end
    var scan = new byte[] {(byte) 0xff, (byte) 0xda, 0, 8, 1, 1, 0, 0, 0, 0};
    var bomb = Arrays.copyOf(file, end + scan.length * JpegFile.MOST_SCANS + 2);
    for (int i = 0; i < JpegFile.MOST_SCANS; i++) {
      System.arraycopy(scan, 0, bomb, end + i * scan.length, scan.length);
    }
    assertThat(JpegFile.of(bomb)).isNull();
    assertThat(JpegFile.of(file)).isNotNull();

    var comment = new byte[] {(byte) 0xff, (byte) 0xfe, 0, 4, (byte) 0xff, (byte) 0xd9};
    var hidden = new ByteArrayOutputStream(); // an end within a comment before the scans
    hidden.write(bomb, 0, end);
    hidden.writeBytes(comment);
    hidden.write(bomb, end, bomb.length - end);
    assertThat(JpegFile.of(hidden.toByteArray())).isNull();
    var few = new ByteArrayOutputStream();
    few.write(file, 0, end);
    few.writeBytes(comment);
    few.write(file, end, 2);
    assertThat(Objects.requireNonNull(JpegFile.of(few.toByteArray())).bytes()).isEqualTo(file);

    for (int i = 0; i < file.length - 1; i++) {
      if ((file[i] & 0xff) == 0xff && (file[i + 1] & 0xff) == 0xc2) {
        var inks = file.clone();
        inks[i + 9] = 4;
        assertThat(JpegFile.of(inks)).isNull();
        var deep = file.clone();
        deep[i + 4] = 12;
        assertThat(JpegFile.of(deep)).isNull();
        return;
      }
    }
    throw new AssertionError("no frame");
  }

  @Test
  void profilesOfJpegsAreNotRead() throws Exception {
    var file = file("jpeg", picture(BufferedImage.TYPE_INT_RGB));
    var profile = new byte[] {(byte) 0xff, (byte) 0xe2, 0, 6, 'I', 'C', 'C', '_'};
    var with = new byte[file.length + profile.length];
    System.arraycopy(file, 0, with, 0, 2);
    System.arraycopy(profile, 0, with, 2, profile.length);
    System.arraycopy(file, 2, with, 2 + profile.length, file.length - 2);
    assertThat(Objects.requireNonNull(JpegFile.of(with)).bytes()).isEqualTo(file);
  }

  @Test
  void bmpsThatHoldOtherFilesAreLeftAlone() throws Exception {
    var bmp = file("bmp", picture(BufferedImage.TYPE_INT_RGB));
    for (int compression : new int[] {4, 5, -1}) {
      bmp[30] = (byte) compression;
      assertThat(ImageFile.of(bmp, "image/bmp", WIDTH, HEIGHT)).isNull();
    }
    bmp[30] = 0;
    bmp[13] = 0x7f; // pixels far away, behind a palette that would fill the heap
    assertThat(ImageFile.of(bmp, "image/bmp", WIDTH, HEIGHT)).isNull();
  }

  @Test
  void otherFormatsAndHugeImagesAreLeftAlone() throws Exception {
    assertThat(ImageFile.of(new byte[64], "image/gif", 65_536, 1)).as("a row").isNull();
    assertThat(ImageFile.of(new byte[64], "image/gif", 65_535, 1)).isNotNull();
    assertThat(ImageFile.of(new byte[64], "image/webp", 8, 8)).isNull();
    assertThat(ImageFile.of(new byte[64], "image/gif", 50_000, 50_000)).isNull();
  }
}
