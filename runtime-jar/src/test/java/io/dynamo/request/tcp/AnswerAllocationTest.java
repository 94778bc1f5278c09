package io.dynamo.request.tcp;

import static org.assertj.core.api.Assertions.assertThat;

import io.dynamo.concurrent.ItemStream;
import io.dynamo.error.DynamoException;
import io.dynamo.inference.EngineOutput;
import io.dynamo.net.PayloadFormat;
import io.dynamo.pipeline.SentStream;
import io.dynamo.testing.Allocation;
import io.dynamo.wire.Golden;
import io.netty.buffer.ByteBuf;
import io.netty.buffer.ByteBufAllocator;
import io.netty.buffer.Unpooled;
import java.nio.ByteBuffer;
import java.util.concurrent.Flow;
import org.junit.jupiter.api.Test;

/**
 * Measures the heap that an item of one token costs on its way through each side, sockets left out.
 */
class AnswerAllocationTest {
  /** The item, 72 B, and a third more for another layout of objects. */
  private static final long MAX_READ_BYTES = 96;

  private static final long MAX_WRITE_BYTES = 8;

  private long sink; // so that no result is optimised away

  private final class Sink implements Flow.Subscriber<EngineOutput>, SentStream {
    @Override
    public void onSubscribe(Flow.Subscription subscription) {
      subscription.request(Long.MAX_VALUE);
    }

    @Override
    public void onNext(EngineOutput item) {
      sink += item.tokenIds()[0];
    }

    @Override
    public void onError(Throwable cause) {
      throw new AssertionError(cause);
    }

    @Override
    public void onComplete() {}

    @Override
    public ByteBufAllocator allocator() {
      throw new AssertionError("an item needs no buffer of its own");
    }

    @Override
    public void sendHeader(byte[] header) {}

    @Override
    public void send(byte[] head, ByteBuffer item, byte[] tail) {
      sink += item.remaining();
    }

    @Override
    public void finish(ByteBuf last, Runnable written) {}

    @Override
    public void execute(Runnable task) {}

    @Override
    public void abort() {}
  }

  @Test
  void theRequesterAllocatesTheItemAlone() {
    var items = new ItemStream<EngineOutput>(64, () -> {}, () -> {});
    items.subscribe(new Sink());
    var reader =
        new AnswerReader<>(
            TestPlane.CODEC, PayloadFormat.MSGPACK, items, AnswerAllocationTest::unexpected);
    var frame = Unpooled.wrappedBuffer(Golden.bodies("chat-stream.w2f.bin").get(1));
    assertThat(Allocation.bytesEach(() -> reader.read(frame.readerIndex(0))))
        .as("bytes for each item")
        .isBetween(1L, MAX_READ_BYTES);
    assertThat(sink).isPositive();
  }

  private static void unexpected(DynamoException cause) {
    throw new AssertionError(cause);
  }

  @Test
  void theWorkerAllocatesNothing() {
    var writer = new AnswerWriter<>(TestPlane.CODEC, PayloadFormat.MSGPACK, 1 << 20);
    var item = EngineOutput.ofTokens(1484);
    var stream = new Sink();
    assertThat(Allocation.bytesEach(() -> sink += writer.send(item, stream)))
        .as("bytes for each item")
        .isBetween(0L, MAX_WRITE_BYTES);
    assertThat(sink).isPositive();
  }
}
