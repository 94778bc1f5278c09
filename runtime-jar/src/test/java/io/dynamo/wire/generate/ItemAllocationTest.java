package io.dynamo.wire.generate;

import static org.assertj.core.api.Assertions.assertThat;

import io.dynamo.inference.EngineOutput;
import io.dynamo.net.PayloadFormat;
import io.dynamo.testing.Allocation;
import io.dynamo.wire.Golden;
import io.dynamo.wire.request.ResponseEnvelope;
import java.nio.ByteBuffer;
import org.junit.jupiter.api.Test;

/**
 * Measures the heap that one token costs, warm, where the items of an answer are coded one after
 * another.
 */
class ItemAllocationTest {
  /**
   * The item is 48 B and its array of one token 24 B; a third more for another layout of objects.
   */
  private static final long MAX_DECODE_BYTES = 96;

  /** Nothing; less than the smallest object. */
  private static final long MAX_ENCODE_BYTES = 8;

  private final GenerateCodec codec = new GenerateCodec();
  private long sink; // so that no result is optimised away

  @Test
  void decodingAnItemOfOneTokenAllocatesTheItemAlone() {
    byte[] captured = Golden.bodies("chat-stream.w2f.bin").get(1);
    var item = ResponseEnvelope.read(ByteBuffer.wrap(captured), PayloadFormat.MSGPACK).item();
    if (item == null) {
      throw new AssertionError("the capture has no item");
    }
    var decoder = codec.decoder(PayloadFormat.MSGPACK);
    assertThat(Allocation.bytesEach(() -> sink += decoder.decode(item).tokenIds()[0]))
        .as("bytes for each item")
        .isBetween(1L, MAX_DECODE_BYTES);
    assertThat(sink).isPositive();
  }

  @Test
  void encodingAnItemAllocatesNothing() {
    var item = EngineOutput.ofTokens(1484);
    var encoder = codec.encoder(PayloadFormat.MSGPACK);
    assertThat(Allocation.bytesEach(() -> sink += encoder.encode(item).remaining()))
        .as("bytes for each item")
        .isBetween(0L, MAX_ENCODE_BYTES);
    assertThat(sink).isPositive();
  }
}
