package io.dynamo.transfer.tcp;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatExceptionOfType;

import io.dynamo.transfer.tcp.RegionFrame.Kind;
import io.netty.buffer.ByteBuf;
import io.netty.buffer.ByteBufAllocator;
import io.netty.buffer.Unpooled;
import java.nio.ByteBuffer;
import java.util.ArrayList;
import java.util.HexFormat;
import java.util.List;
import java.util.Random;
import org.junit.jupiter.api.Test;

class FrameReaderTest {
  private final List<String> heard = new ArrayList<>();
  private final ByteBuf payload = Unpooled.buffer();
  private final FrameReader reader =
      new FrameReader(
          new FrameReader.Sink() {
            @Override
            public void begin(RegionFrame frame) {
              heard.add("begin " + frame.kind());
            }

            @Override
            public void payload(RegionFrame frame, ByteBuffer bytes, int done) {
              assertThat(done).isEqualTo(payload.writerIndex());
              payload.writeBytes(bytes);
            }

            @Override
            public void end(RegionFrame frame) {
              heard.add("end " + frame.ticket());
            }
          });

  private static ByteBuf hello(byte[] payload) {
    return RegionFrame.message(ByteBufAllocator.DEFAULT, Kind.HELLO, 1, 5, payload);
  }

  @Test
  void aHeaderIsLaidOutAsDrawn() {
    var bytes = new RegionFrame(Kind.WRITE, 3, 4, 5, 6, 7, 8).message(ByteBufAllocator.DEFAULT);
    var hex = new byte[44];
    bytes.readBytes(hex);
    assertThat(HexFormat.of().formatHex(hex))
        .isEqualTo(
            "444b5631"
                + "0102"
                + "0300"
                + "0400000000000000"
                + "0500000000000000"
                + "0600000000000000"
                + "07000000"
                + "08000000"
                + "00000000");
    bytes.release();
  }

  @Test
  void messagesAreReadHoweverTheyAreCut() throws Exception {
    var random = new Random(11);
    var data = new byte[1000];
    random.nextBytes(data);
    for (int round = 0; round < 50; round++) {
      heard.clear();
      payload.clear();
      var bytes =
          Unpooled.wrappedBuffer(
              hello(data), RegionFrame.of(Kind.ACK, 0, 9, 5).message(ByteBufAllocator.DEFAULT));
      while (bytes.isReadable()) {
        int piece = Math.min(bytes.readableBytes(), 1 + random.nextInt(200));
        reader.read(bytes.readSlice(piece));
      }
      bytes.release();
      assertThat(heard).containsExactly("begin HELLO", "end 0", "begin ACK", "end 9");
      assertThat(payload).isEqualTo(Unpooled.wrappedBuffer(data));
    }
  }

  @Test
  void everyFlippedBitIsNoticed() {
    int length = RegionFrame.HEADER_BYTES + 32;
    for (int bit = 0; bit < 8 * length; bit++) {
      payload.clear();
      var bytes = hello(new byte[32]);
      bytes.setByte(bit / 8, bytes.getByte(bit / 8) ^ (1 << (bit % 8)));
      var fresh = new FrameReader(new IgnoringSink());
      assertThatExceptionOfType(RegionProtocolException.class)
          .as("bit %d", bit)
          .isThrownBy(() -> fresh.read(bytes));
      bytes.release();
    }
  }

  private static final class IgnoringSink implements FrameReader.Sink {
    @Override
    public void begin(RegionFrame frame) {}

    @Override
    public void payload(RegionFrame frame, ByteBuffer bytes, int done) {}

    @Override
    public void end(RegionFrame frame) {}
  }

  @Test
  void aPayloadAboveItsBoundIsRefusedBeforeItComes() {
    var big =
        new RegionFrame(Kind.WRITE, 0, 1, 2, 0, RegionFrame.MAX_PAYLOAD + 1, 0)
            .message(ByteBufAllocator.DEFAULT);
    assertThatExceptionOfType(RegionProtocolException.class)
        .isThrownBy(() -> reader.read(big))
        .withMessageContaining("1048576");
    big.release();
    assertThat(heard).isEmpty();
  }
}
