package io.dynamo.frontend.media;

import static org.assertj.core.api.Assertions.assertThat;

import java.nio.charset.StandardCharsets;
import java.util.Arrays;
import java.util.Base64;
import java.util.Objects;
import java.util.Random;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;
import org.junit.jupiter.params.provider.ValueSource;

class ImageHeaderTest {
  /** Pictures of 5 by 3 pixels that libwebp made: lossy, lossless, and with transparency. */
  private static final String[] WEBP = {
    "UklGRjwAAABXRUJQVlA4IDAAAAAQAgCdASoFAAMAAUAmJaACdLoB+AH4AAPIAP7qKv/98CWlQN/yBf/bQzqhL/fMAAA=",
    "UklGRhwAAABXRUJQVlA4TBAAAAAvBIAAAAdQwP5H/wMR0f8A",
    "UklGRmAAAABXRUJQVlA4WAoAAAAQAAAABAAAAgAAQUxQSAoAAAABB1CyiAhERP8DVlA4IDAAAAAQAgCdASoFAAMAAUAmJaACdLoB+AH4AAPIAP7qKv/98CWlQN/yBf/bQzqhL/fMAAA="
  };

  @ParameterizedTest
  @CsvSource({"png, 1, 1", "png, 640, 480", "jpeg, 17, 300", "gif, 300, 17", "bmp, 33, 65"})
  void sizesAreThoseOfTheJdksWriters(String format, int width, int height) {
    var header = ImageHeader.of(Pictures.of(format, width, height));

    assertThat(header).isEqualTo(new ImageHeader("image/" + format, width, height));
  }

  @ParameterizedTest
  @ValueSource(ints = {0, 1, 2})
  void webpIsRead(int which) {
    assertThat(ImageHeader.of(Base64.getDecoder().decode(WEBP[which])))
        .isEqualTo(new ImageHeader("image/webp", 5, 3));
  }

  @Test
  void extendedWebpIsRead() {
    var bytes = new byte[30];
    System.arraycopy("RIFF\0\0\0\0WEBPVP8X".getBytes(StandardCharsets.US_ASCII), 0, bytes, 0, 16);
    bytes[24] = 9;
    bytes[27] = (byte) 0xff;
    bytes[28] = 1;

    assertThat(ImageHeader.of(bytes)).isEqualTo(new ImageHeader("image/webp", 10, 512));
  }

  @Test
  void bitmapsFromTheTopHaveAHeight() {
    var bytes = Pictures.of("bmp", 4, 6);
    bytes[22] = -6;
    bytes[23] = -1;
    bytes[24] = -1;
    bytes[25] = -1;

    assertThat(ImageHeader.of(bytes)).isEqualTo(new ImageHeader("image/bmp", 4, 6));
  }

  @Test
  void framesOfJpegBehindLongSegmentsAreFound() {
    var plain = Pictures.of("jpeg", 17, 300);
    var segment = new byte[60_000 + 2];
    segment[0] = (byte) 0xff;
    segment[1] = (byte) 0xe1;
    segment[2] = (byte) (60_000 >> 8);
    segment[3] = (byte) 60_000;
    var bytes = new byte[plain.length + segment.length];
    System.arraycopy(plain, 0, bytes, 0, 2);
    System.arraycopy(segment, 0, bytes, 2, segment.length);
    System.arraycopy(plain, 2, bytes, 2 + segment.length, plain.length - 2);

    assertThat(ImageHeader.of(bytes)).isEqualTo(new ImageHeader("image/jpeg", 17, 300));
  }

  @Test
  void claimsOfManyPixelsAreReadWithoutDecoding() {
    var header = Objects.requireNonNull(ImageHeader.of(Pictures.claimed(100_000, 100_000)));

    assertThat(header.pixels()).isEqualTo(10_000_000_000L);
  }

  @ParameterizedTest
  @CsvSource({"0, 5", "5, 0", "-1, 5", "5, -2147483648"})
  void imagesWithoutPixelsAreNone(int width, int height) {
    assertThat(ImageHeader.of(Pictures.claimed(width, height))).isNull();
  }

  @Test
  void cutAndBrokenFilesAreNoImagesAndHarmNobody() {
    var random = new Random(7);
    for (var format : new String[] {"png", "jpeg", "gif", "bmp"}) {
      var whole = Pictures.of(format, 20, 30);
      for (int length = 0; length < Math.min(whole.length, 700); length++) {
        var cut = Arrays.copyOf(whole, length);
        var header = ImageHeader.of(cut);
        if (header != null) {
          assertThat(header).isEqualTo(ImageHeader.of(whole));
        }
        if (length > 0) {
          cut[random.nextInt(length)] = (byte) random.nextInt();
          ImageHeader.of(cut);
        }
      }
    }
  }
}
