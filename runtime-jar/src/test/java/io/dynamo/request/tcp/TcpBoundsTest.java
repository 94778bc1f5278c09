package io.dynamo.request.tcp;

import static org.assertj.core.api.Assertions.assertThat;

import io.dynamo.concurrent.Deadline;
import io.dynamo.concurrent.ItemStream;
import io.dynamo.error.EngineFailedException;
import io.dynamo.inference.EngineOutput;
import io.dynamo.net.PayloadFormat;
import io.dynamo.request.EndpointServer;
import java.io.IOException;
import java.nio.ByteBuffer;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.Test;

/**
 * Messages that are too large are refused at their announcement, by the side that would have to
 * hold them.
 */
class TcpBoundsTest {
  private final TestPlane plane =
      new TestPlane(TestPlane.settings(PayloadFormat.MSGPACK, 1 << 16, 8));

  @AfterEach
  void closePlane() {
    plane.close();
  }

  private EndpointServer.Served serve(EngineOutput... items) {
    return plane.serve(
        (request, context) -> {
          var answer = new ItemStream<EngineOutput>(8, () -> {}, () -> {});
          for (var item : items) {
            answer.offer(item);
          }
          answer.complete();
          return answer;
        });
  }

  private static RawPeer dial(EndpointServer.Served served) throws IOException {
    return RawPeer.dial(TestPlane.tcpAddress(served));
  }

  @Test
  void anItemThatNoRequesterTakesEndsTheAnswerWithTheReason() throws Exception {
    var served = serve(EngineOutput.ofTokens(1), EngineOutput.ofTokens(new int[1 << 16]));
    var caller = Collector.all(plane.call(served));
    assertThat(caller.awaitFailure())
        .isInstanceOf(EngineFailedException.class)
        .hasMessageContaining("exceeds dynamo.request.tcp.max-frame of 65536 bytes");
    assertThat(caller.items()).hasSize(1);
    assertThat(served.drain(Deadline.after(TestPlane.PATIENCE))).isTrue();
    TestPlane.awaitCount(TestPlane.errors(plane.metrics, "serialization"), 1);
  }

  @Test
  void aPathBeyondItsBoundIsRefusedAtItsLength() throws Exception {
    try (var requester = dial(serve())) {
      requester.write(ByteBuffer.allocate(2).putShort((short) 4097).array());
      assertThat(requester.readAck())
          .isEqualTo("Read error: endpoint path too long: 4097 bytes (max: 4096 bytes)");
      requester.awaitGone();
    }
  }

  @Test
  void theGreetingOfATlsClientIsRefusedAtOnce() throws Exception {
    try (var requester = dial(serve())) {
      requester.write(new byte[] {0x16, 3, 1, 2, 0, 1});
      assertThat(requester.readAck()).startsWith("Read error: ");
      requester.awaitGone();
    }
  }

  @Test
  void aFrameBeyondTheBoundIsRefusedAtItsLengths() throws Exception {
    try (var requester = dial(serve())) {
      requester.write(
          ByteBuffer.allocate(10)
              .putShort((short) 1)
              .put((byte) 'x')
              .putShort((short) 1)
              .put((byte) '{')
              .putInt(65527)
              .array());
      assertThat(requester.readAck())
          .isEqualTo("Read error: message too large: 65537 bytes (max: 65536 bytes)");
      requester.awaitGone();
    }
  }
}
