package io.dynamo.frontend.media.pixels;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatExceptionOfType;

import io.dynamo.concurrent.Deadline;
import java.awt.image.BufferedImage;
import java.io.ByteArrayOutputStream;
import java.io.IOException;
import java.time.Duration;
import java.util.Arrays;
import java.util.List;
import java.util.Map;
import java.util.Objects;
import javax.imageio.ImageIO;
import org.jspecify.annotations.Nullable;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.Test;

class PixelDecodersTest {
  private static final int SIDE = 64;
  private static final long BYTES = 3L * SIDE * SIDE;

  private final PixelPool pool = PixelPoolTest.pool(2 * BYTES);
  private @Nullable PixelDecoders decoders;

  @AfterEach
  void stop() {
    if (decoders != null) {
      decoders.close();
    }
  }

  private PixelDecoders decoders(long heldBytes, Duration patience) {
    var made = new PixelDecoders(pool, new PixelDecoders.Bounds(1, heldBytes, patience));
    decoders = made;
    return made;
  }

  private static byte[] png(int side) throws IOException {
    var out = new ByteArrayOutputStream();
    ImageIO.write(new BufferedImage(side, side, BufferedImage.TYPE_INT_RGB), "png", out);
    return out.toByteArray();
  }

  private static @Nullable DecodedImage decode(PixelDecoders decoders, byte[] file, int side)
      throws Exception {
    var deadline = decoders.deadline(Deadline.after(Duration.ofMinutes(1)));
    return decoders.decode(file, "image/png", side, side, deadline);
  }

  @Test
  void imagesAreHeldUntilTheyAreClosed() throws Exception {
    var decoders = decoders(1 << 20, Duration.ofMinutes(1));
    var first = Objects.requireNonNull(decode(decoders, png(SIDE), SIDE));
    var second = Objects.requireNonNull(decode(decoders, png(SIDE), SIDE));
    assertThat(decode(decoders, png(SIDE), SIDE)).as("no room").isNull();
    assertThat(decoders.heldBytes()).isEqualTo(2 * BYTES);

    var field = first.toField();
    assertThat(field.get("shape")).isEqualTo(List.of(SIDE, SIDE, 3));
    assertThat(field.get("dtype")).isEqualTo("UINT8");
    assertThat(field.get("nixl_descriptor"))
        .isEqualTo(
            Map.of(
                "addr", first.slot().address(), "size", BYTES, "mem_type", "Dram", "device_id", 0));

    first.close();
    first.close();
    second.close();
    assertThat(decoders.heldBytes()).isZero();
  }

  @Test
  void damagedFilesHoldNothing() throws Exception {
    var decoders = decoders(1 << 20, Duration.ofMinutes(1));
    var cut = Arrays.copyOf(png(SIDE), 60);
    assertThatExceptionOfType(DamagedImageException.class)
        .isThrownBy(() -> decode(decoders, cut, SIDE));
    assertThat(decoders.heldBytes()).isZero();
  }

  @Test
  void imagesThatTakeMoreMemoryOrTimeAreLeftAlone() throws Exception {
    try (var small = decoders(BYTES, Duration.ofMinutes(1))) {
      assertThat(decode(small, png(SIDE), SIDE)).isNull(); // four bytes of each pixel
      assertThat(small.heldBytes()).isZero();
    }
    var hasty = new PixelDecoders(PixelPoolTest.pool(1 << 26), bounds(Duration.ofMillis(1)));
    try (hasty) {
      assertThat(decode(hasty, png(2000), 2000)).isNull();
      for (int i = 0; i < 1000 && hasty.heldBytes() > 0; i++) {
        Thread.sleep(10);
      }
      assertThat(hasty.heldBytes()).as("given back when the work has ended").isZero();
    }
  }

  private static PixelDecoders.Bounds bounds(Duration patience) {
    return new PixelDecoders.Bounds(1, 1 << 26, patience);
  }

  @Test
  void oneThreadAtLeastDecodes() {
    assertThat(PixelDecoders.Bounds.of(1, 32 << 20).threads()).isEqualTo(1);
    assertThat(PixelDecoders.Bounds.of(64, 32 << 20).threads()).isEqualTo(4);
    assertThat(PixelDecoders.Bounds.of(64, 128 << 20).heldBytes()).isEqualTo(1 << 20);
  }
}
