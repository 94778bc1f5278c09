package io.dynamo.request.tcp;

import static org.assertj.core.api.Assertions.assertThat;

import io.dynamo.pipeline.FrameException;
import io.dynamo.wire.Golden;
import io.netty.buffer.ByteBuf;
import io.netty.buffer.Unpooled;
import java.nio.ByteBuffer;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.List;
import java.util.Random;
import org.jspecify.annotations.Nullable;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;

/** The frames of the request connection: where the bytes are cut on their way means nothing. */
class TcpCodecSplitTest {
  private static final int MAX = 1 << 20;

  private static @Nullable RequestFrame read(ByteBuf in) throws Exception {
    return RequestFrame.read(in, MAX);
  }

  @ParameterizedTest
  @ValueSource(
      strings = {
        "chat-stream",
        "completions",
        "disagg-decode",
        "embeddings",
        "generate-json",
        "with-metadata",
        "unknown-endpoint"
      })
  void aRequestIsTheSameWhereverItIsCut(String name) throws Exception {
    var bytes = Golden.bytes("request-tcp/" + name + ".request.bin");
    var expected = Golden.request(name);
    for (int cut = 0; cut < bytes.length; cut++) {
      var in = Unpooled.buffer().writeBytes(bytes, 0, cut);
      assertThat(read(in)).as("the first %d bytes", cut).isNull();
      assertThat(in.readableBytes()).isEqualTo(cut);
      in.writeBytes(bytes, cut, bytes.length - cut);
      var frame = read(in);
      assertThat(frame).as("cut at %d", cut).isNotNull();
      if (frame != null) {
        assertThat(frame.path()).isEqualTo(expected.path());
        assertThat(frame.headers()).isEqualTo(expected.headers());
        assertThat(frame.control()).isEqualTo(expected.payload().header());
        assertThat(frame.body()).isEqualTo(expected.payload().body());
      }
      assertThat(in.isReadable()).isFalse();
      in.release();
    }
  }

  @Test
  void acknowledgementsAreTheSameWhereverTheyAreCut() throws Exception {
    var stream =
        ByteBuffer.allocate(200)
            .put(Golden.bytes("request-tcp/three-requests-one-connection.acks.bin"))
            .put(Golden.bytes("request-tcp/unknown-endpoint.ack.bin"));
    var bytes = Arrays.copyOf(stream.array(), stream.position());
    var whole = acks(bytes, bytes.length);
    assertThat(whole).hasSize(4).startsWith("", "", "");
    assertThat(whole.getLast()).startsWith("Server unavailable: unknown endpoint ");
    for (int cut = 0; cut < bytes.length; cut++) {
      assertThat(acks(bytes, cut)).as("cut at %d", cut).isEqualTo(whole);
    }
  }

  private static List<String> acks(byte[] bytes, int cut) throws FrameException {
    List<String> acks = new ArrayList<>();
    var in = Unpooled.buffer();
    for (var part :
        List.of(Arrays.copyOf(bytes, cut), Arrays.copyOfRange(bytes, cut, bytes.length))) {
      in.writeBytes(part);
      for (var ack = Acks.read(in); ack != null; ack = Acks.read(in)) {
        acks.add(ack);
      }
    }
    in.release();
    return acks;
  }

  @ParameterizedTest
  @ValueSource(longs = {1, 2, 3, 5, 8}) // the seed names the failing run
  void noiseIsAFrameOrTooLargeOrNotWholeYet(long seed) {
    var random = new Random(seed);
    var bytes = Golden.bytes("request-tcp/chat-stream.request.bin");
    for (int i = 0; i < 2_000; i++) {
      var changed = bytes.clone();
      for (int flips = 1 + random.nextInt(4); flips > 0; flips--) {
        changed[random.nextInt(random.nextBoolean() ? 240 : changed.length)] =
            (byte) random.nextInt();
      }
      var in = Unpooled.wrappedBuffer(changed);
      try {
        var frame = read(in);
        assertThat(frame == null || frame.length() <= MAX).isTrue();
      } catch (Exception e) {
        assertThat(e).isInstanceOf(RequestFrame.TooLargeException.class);
      }
      in.release();
    }
  }
}
