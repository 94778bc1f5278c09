package io.dynamo.frontend.socket;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.catchThrowableOfType;

import java.io.ByteArrayInputStream;
import java.io.ByteArrayOutputStream;
import java.nio.charset.StandardCharsets;
import java.util.ArrayList;
import java.util.HexFormat;
import java.util.List;
import java.util.Random;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;

/** Frames of clients, by the examples of RFC 6455 and by frames that it forbids. */
class SocketReaderTest {
  private static final int LIMIT = 200_000;
  private static final String MASK = "37fa213d";

  private int grown;

  private SocketReader reader(byte[] bytes) {
    return new SocketReader(
        new ByteArrayInputStream(bytes), LIMIT, size -> grown = Math.max(grown, size));
  }

  private SocketReader reader(String hex) {
    return reader(HexFormat.of().parseHex(hex.replace(" ", "")));
  }

  /** A masked frame. */
  private static byte[] frame(int first, byte[] payload) {
    var out = new ByteArrayOutputStream();
    out.write(first);
    if (payload.length < 126) {
      out.write(0x80 | payload.length);
    } else if (payload.length < 1 << 16) {
      out.write(0x80 | 126);
      out.write(payload.length >> 8);
      out.write(payload.length);
    } else {
      out.write(0x80 | 127);
      for (int i = 7; i >= 0; i--) {
        out.write((int) ((long) payload.length >> (8 * i)));
      }
    }
    var mask = HexFormat.of().parseHex(MASK);
    out.writeBytes(mask);
    for (int i = 0; i < payload.length; i++) {
      out.write(payload[i] ^ mask[i % 4]);
    }
    return out.toByteArray();
  }

  private static byte[] text(String text) {
    return frame(0x81, text.getBytes(StandardCharsets.UTF_8));
  }

  @Test
  void theExampleOfTheStandardIsRead() throws Exception {
    assertThat(reader("81 85 37fa213d 7f9f4d5158").next())
        .isEqualTo(new SocketMessage.Text("Hello"));
  }

  @ParameterizedTest
  @CsvSource({"0", "1", "125", "126", "127", "65535", "65536", "200000"})
  void textsOfEveryLengthAreRead(int length) throws Exception {
    var text = "x".repeat(length);

    assertThat(reader(text(text)).next()).isEqualTo(new SocketMessage.Text(text));
    assertThat(grown).isLessThanOrEqualTo(LIMIT);
  }

  @Test
  void aMessageInFragmentsIsOneMessageAndControlFramesMayComeBetween() throws Exception {
    var bytes = new ByteArrayOutputStream();
    bytes.writeBytes(frame(0x01, "Grü".getBytes(StandardCharsets.UTF_8)));
    bytes.writeBytes(frame(0x89, new byte[] {1, 2}));
    bytes.writeBytes(frame(0x00, new byte[0]));
    bytes.writeBytes(frame(0x8A, new byte[0]));
    bytes.writeBytes(frame(0x80, "ße".getBytes(StandardCharsets.UTF_8)));
    bytes.writeBytes(text("next"));
    var reader = reader(bytes.toByteArray());

    assertThat(reader.next())
        .isInstanceOfSatisfying(
            SocketMessage.Ping.class, it -> assertThat(it.payload()).containsExactly(1, 2));
    assertThat(reader.next()).isEqualTo(new SocketMessage.Pong());
    assertThat(reader.next()).isEqualTo(new SocketMessage.Text("Grüße"));
    assertThat(reader.next()).isEqualTo(new SocketMessage.Text("next"));
    assertThat(reader.next()).isEqualTo(new SocketMessage.Gone());
  }

  @Test
  void binaryMessagesAndClosesAreTold() throws Exception {
    var bytes = new ByteArrayOutputStream();
    bytes.writeBytes(frame(0x82, new byte[7]));
    bytes.writeBytes(frame(0x88, new byte[] {0x03, (byte) 0xE9, 'b', 'y', 'e'}));
    var reader = reader(bytes.toByteArray());

    assertThat(reader.next()).isEqualTo(new SocketMessage.Binary(7));
    assertThat(reader.next())
        .isEqualTo(new SocketMessage.Close(new CloseReason(CloseReason.GOING_AWAY, "bye")));
    assertThat(reader(frame(0x88, new byte[0])).next())
        .isEqualTo(new SocketMessage.Close(new CloseReason(CloseReason.NORMAL, "")));
  }

  @ParameterizedTest(name = "{0}")
  @CsvSource({
    "not masked, 81 05 48656c6c6f, 1002",
    "extension, c1 80 37fa213d, 1002",
    "unknown kind, 83 80 37fa213d, 1002",
    "unknown control, 8b 80 37fa213d, 1002",
    "continuation first, 80 80 37fa213d, 1002",
    "message in a message, 01 80 37fa213d 81 80 37fa213d, 1002",
    "long control, 89 fe 007e 37fa213d, 1002",
    "fragmented control, 09 80 37fa213d, 1002",
    "length not shortest, 81 fe 007d 37fa213d, 1002",
    "long length not shortest, 81 ff 000000000000ffff 37fa213d, 1002",
    "negative length, 81 ff 8000000000000000 37fa213d, 1002",
    "too long, 81 ff 0000000000030d41 37fa213d, 1009",
    "far too long, 81 ff 7fffffffffffffff 37fa213d, 1009",
    "no UTF-8, 81 81 00000000 ff, 1007",
    "surrogate, 81 83 00000000 eda080, 1007",
    "cut character, 81 82 00000000 e282, 1007",
    "close of one byte, 88 81 00000000 03, 1002",
    "reserved code, 88 82 00000000 03ed, 1002",
    "code below 1000, 88 82 00000000 03e7, 1002",
    "close without UTF-8, 88 83 00000000 03e8ff, 1007",
  })
  void forbiddenFramesCloseTheSocket(String name, String hex, int code) {
    var broken = catchThrowableOfType(BrokenSocketException.class, () -> reader(hex).next());

    assertThat(broken).as(name).isNotNull();
    assertThat(broken.reason().code()).isEqualTo(code);
    assertThat(grown).isLessThan(1024);
  }

  @Test
  void fragmentsAreBoundedTogether() throws Exception {
    var bytes = new ByteArrayOutputStream();
    bytes.writeBytes(frame(0x01, new byte[150_000]));
    bytes.writeBytes(frame(0x80, new byte[50_001]));

    var broken =
        catchThrowableOfType(BrokenSocketException.class, () -> reader(bytes.toByteArray()).next());

    assertThat(broken.reason().code()).isEqualTo(CloseReason.TOO_BIG);
  }

  @Test
  void memoryGrowsWithWhatArrivesNotWithWhatIsAnnounced() throws Exception {
    var announced = HexFormat.of().parseHex("81ff0000000000030d4037fa213d");

    assertThat(reader(announced).next()).isEqualTo(new SocketMessage.Gone());
    assertThat(grown).isLessThanOrEqualTo(65_536);
  }

  @Test
  void noRoomClosesTheSocket() {
    var reader =
        new SocketReader(
            new ByteArrayInputStream(text("abc")),
            LIMIT,
            _ -> {
              throw new BrokenSocketException(CloseReason.TRY_AGAIN_LATER, "full");
            });

    assertThat(catchThrowableOfType(BrokenSocketException.class, reader::next).reason().code())
        .isEqualTo(CloseReason.TRY_AGAIN_LATER);
  }

  /** Any bytes end in a message, a refusal or the end of the connection; nothing else is thrown. */
  @Test
  void arbitraryBytesAreReadOrRefused() throws Exception {
    var random = new Random(7);
    for (int round = 0; round < 2_000; round++) {
      var bytes = new byte[random.nextInt(64)];
      random.nextBytes(bytes);
      if (bytes.length > 1) {
        bytes[0] &= (byte) 0x8F;
        bytes[1] |= (byte) 0x80;
      }
      var reader = reader(bytes);
      List<SocketMessage> messages = new ArrayList<>();
      try {
        do {
          messages.add(reader.next());
        } while (!(messages.getLast() instanceof SocketMessage.Gone));
      } catch (BrokenSocketException expected) {
        assertThat(expected.reason().code()).isBetween(1000, 1014);
      }
    }
  }
}
