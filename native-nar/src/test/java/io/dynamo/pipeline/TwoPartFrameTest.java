package io.dynamo.pipeline;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import io.netty.buffer.ByteBuf;
import io.netty.buffer.ByteBufAllocator;
import io.netty.buffer.ByteBufUtil;
import io.netty.buffer.Unpooled;
import io.netty.buffer.UnpooledByteBufAllocator;
import java.io.IOException;
import java.io.UncheckedIOException;
import java.nio.charset.StandardCharsets;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.List;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;
import org.junit.jupiter.params.provider.ValueSource;

class TwoPartFrameTest {
  private static final int MAX = 1 << 20;
  private static final ByteBufAllocator ALLOCATOR = UnpooledByteBufAllocator.DEFAULT;

  private static byte[] golden(String name) {
    try (var in = TwoPartFrameTest.class.getResourceAsStream("/golden/response-stream/" + name)) {
      if (in == null) {
        throw new IllegalArgumentException("no golden file " + name);
      }
      return in.readAllBytes();
    } catch (IOException e) {
      throw new UncheckedIOException(e);
    }
  }

  private static List<byte[]> written(byte[] captured, int splitAt) throws FrameException {
    List<byte[]> frames = new ArrayList<>();
    ByteBuf in = Unpooled.buffer();
    for (byte[] part :
        List.of(
            Arrays.copyOf(captured, splitAt),
            Arrays.copyOfRange(captured, splitAt, captured.length))) {
      in.writeBytes(part);
      for (var frame = TwoPartFrame.read(in, MAX);
          frame != null;
          frame = TwoPartFrame.read(in, MAX)) {
        var body = ByteBufUtil.getBytes(frame.body());
        frame.release();
        var out =
            frame.header().length > 0
                ? TwoPartFrame.ofHeader(ALLOCATOR, frame.header())
                : TwoPartFrame.ofBody(ALLOCATOR, body);
        frames.add(ByteBufUtil.getBytes(out));
        out.release();
      }
    }
    assertThat(in.isReadable()).isFalse();
    in.release();
    return frames;
  }

  @Test
  void aCapturedStreamIsWrittenAgainWhereverItIsSplit() throws Exception {
    byte[] captured = golden("chat-stream.w2f.bin");
    for (int split = 0; split <= captured.length; split++) {
      var out = Unpooled.buffer();
      var frames = written(captured, split);
      assertThat(frames).hasSize(9);
      frames.forEach(out::writeBytes);
      assertThat(ByteBufUtil.getBytes(out)).as("split at %d", split).isEqualTo(captured);
      out.release();
    }
  }

  @Test
  void aKillIsTheCapturedKill() {
    var frame = TwoPartFrame.ofHeader(ALLOCATOR, StreamSignal.KILL.header());
    assertThat(ByteBufUtil.getBytes(frame)).isEqualTo(golden("chat-cancelled.f2w.bin"));
    frame.release();
  }

  @Test
  void aCapturedHandshakeIsReadAndWrittenAgain() throws Exception {
    var in = Unpooled.wrappedBuffer(golden("chat-stream.w2f.bin"));
    var frame = TwoPartFrame.read(in, MAX);
    assertThat(frame).isNotNull();
    if (frame != null) {
      var handshake = Handshake.ofJson(frame.header());
      assertThat(handshake)
          .isEqualTo(new Handshake("e6e341e8-4ef7-450f-80b1-c1914b5c58ee", Handshake.RESPONSE));
      assertThat(handshake.toJson()).isEqualTo(frame.header());
      frame.release();
    }
    in.release();
  }

  @ParameterizedTest
  @CsvSource({
    "-1, 0",
    "0, -1",
    "1048577, 0",
    "0, 1048577",
    "524289, 524288",
    "9223372036854775807, 9223372036854775807"
  })
  void aLengthBeyondTheBoundIsRefusedBeforeTheBytesCome(long header, long body) {
    var in = Unpooled.buffer().writeLong(header).writeLong(body).writeLong(0);
    assertThatThrownBy(() -> TwoPartFrame.read(in, MAX)).isInstanceOf(FrameException.class);
    in.release();
  }

  @Test
  void aHeaderHasABoundOfItsOwn() throws Exception {
    var in = Unpooled.buffer().writeLong(11).writeLong(0).writeLong(0);
    assertThatThrownBy(() -> TwoPartFrame.read(in, 10, MAX)).isInstanceOf(FrameException.class);
    assertThat(TwoPartFrame.read(in, 11, MAX)).as("not whole yet").isNull();
    in.release();
  }

  @Test
  void aPartOfAFrameIsNoFrame() throws Exception {
    byte[] captured = golden("chat-stream.w2f.bin");
    for (int cut = 0; cut < 99; cut++) {
      var in = Unpooled.wrappedBuffer(captured, 0, cut);
      assertThat(TwoPartFrame.read(in, MAX)).as("the first %d bytes", cut).isNull();
      assertThat(in.readableBytes()).isEqualTo(cut);
      in.release();
    }
  }

  @Test
  void aHandshakeCutAnywhereIsRefused() {
    byte[] json = Arrays.copyOfRange(golden("chat-stream.w2f.bin"), 24, 99);
    for (int cut = 0; cut < json.length; cut++) {
      byte[] part = Arrays.copyOf(json, cut);
      assertThatThrownBy(() -> Handshake.ofJson(part))
          .as("the first %d bytes", cut)
          .isInstanceOf(FrameException.class);
    }
  }

  @ParameterizedTest
  @ValueSource(
      strings = {
        "",
        "x",
        "{",
        "[]",
        "{}",
        "{\"subject\":1,\"stream_type\":\"response\"}",
        "{\"subject\":\"a\"}",
        "{\"subject\":\"a\",\"stream_type\":\"response\"} x",
        "{\"subject\":\"a\",\"stream_type\":\"resp",
        "{\"subject\":\"\\q\",\"stream_type\":\"r\"}"
      })
  void malformedHandshakesAreRefused(String json) {
    assertThatThrownBy(() -> Handshake.ofJson(json.getBytes(StandardCharsets.UTF_8)))
        .isInstanceOf(FrameException.class);
  }

  @Test
  void aHandshakeMayHoldMoreInAnyOrder() throws Exception {
    var json =
        "{ \"v\": [1, {\"subject\":\"no\"}, -2.5e3], \"stream_type\":\"response\",\"x\":null,"
            + "\"subject\":\"a\\u00e9\\n\\\"\" }";
    assertThat(Handshake.ofJson(json.getBytes(StandardCharsets.UTF_8)))
        .isEqualTo(new Handshake("aé\n\"", "response"));
  }

  @Test
  void aSubjectOfAnyTextSurvives() throws Exception {
    var handshake = new Handshake("q\"b\\s\n\u0001é", "response");
    assertThat(Handshake.ofJson(handshake.toJson())).isEqualTo(handshake);
  }
}
