package io.dynamo.request.codec;

import static org.assertj.core.api.Assertions.assertThat;

import com.sun.management.ThreadMXBean;
import io.dynamo.inference.EngineOutput;
import io.dynamo.net.PayloadFormat;
import java.lang.management.ManagementFactory;
import java.nio.ByteBuffer;
import org.junit.jupiter.api.Test;

/** What one token costs the heap, warm. */
class ItemAllocationTest {
  /** The item and its tokens take 64 B, the reader the rest. */
  private static final long MAX_DECODE_BYTES = 200;

  /** The 108 B of the item twice: as they are written, and cut to their length. */
  private static final long MAX_ENCODE_BYTES = 320;

  private static final int ROUNDS = 10;
  private static final int PER_ROUND = 5_000;

  private final GenerateCodec codec = new GenerateCodec();
  private long sink; // so that no result is optimised away

  /** The cheapest round: the compiler at work allocates elsewhere, but deoptimises here. */
  private static long bytesEach(Runnable task) {
    var threads = (ThreadMXBean) ManagementFactory.getThreadMXBean();
    long least = Long.MAX_VALUE;
    for (int round = 0; round < ROUNDS; round++) {
      long before = threads.getCurrentThreadAllocatedBytes();
      for (int i = 0; i < PER_ROUND; i++) {
        task.run();
      }
      least = Math.min(least, threads.getCurrentThreadAllocatedBytes() - before);
    }
    return least / PER_ROUND;
  }

  @Test
  void decodingAnItemOfOneTokenAllocatesLittleMoreThanTheItem() {
    byte[] captured = Golden.bodies("chat-stream.w2f.bin").get(1);
    var item = ResponseEnvelope.read(ByteBuffer.wrap(captured), PayloadFormat.MSGPACK).item();
    if (item == null) {
      throw new AssertionError("the capture has no item");
    }
    assertThat(bytesEach(() -> sink += codec.decodeItem(item, PayloadFormat.MSGPACK).tokenIds()[0]))
        .as("bytes for each item")
        .isBetween(1L, MAX_DECODE_BYTES);
    assertThat(sink).isPositive();
  }

  @Test
  void encodingAnItemOfOneTokenAllocatesLittleMoreThanItsBytes() {
    var item = EngineOutput.ofTokens(1484);
    assertThat(bytesEach(() -> sink += codec.encodeItem(item, PayloadFormat.MSGPACK).length))
        .as("bytes for each item")
        .isBetween(1L, MAX_ENCODE_BYTES);
    assertThat(sink).isPositive();
  }
}
