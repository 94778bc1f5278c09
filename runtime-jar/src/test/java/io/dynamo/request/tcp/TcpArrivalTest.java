package io.dynamo.request.tcp;

import static java.nio.charset.StandardCharsets.UTF_8;
import static org.assertj.core.api.Assertions.assertThat;

import io.dynamo.concurrent.ItemStream;
import io.dynamo.inference.EngineOutput;
import io.dynamo.metrics.Metrics;
import io.dynamo.metrics.TransportMetrics;
import io.dynamo.net.PayloadFormat;
import java.io.IOException;
import java.nio.ByteBuffer;
import java.util.Arrays;
import java.util.concurrent.locks.LockSupport;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;

/** Requests that arrive in part share a budget of bytes. */
class TcpArrivalTest {
  private static final int BUDGET = 400_000; // bytes
  private static final int FRAME = 1_000_000;
  private static final int PART = 300_000;

  private final Metrics metrics = new Metrics();
  private final TcpEndpointServer server =
      new TcpEndpointServer(
          TestPlane.settings(PayloadFormat.MSGPACK, 1 << 20, 8), BUDGET, TestPlane.LOOPS, metrics);
  private String address = "";

  @BeforeEach
  void serve() {
    address =
        TestPlane.tcpAddress(
            server.serve(
                TestPlane.ENDPOINT,
                TestPlane.ID,
                (_, _) -> new ItemStream<EngineOutput>(8, () -> {}, () -> {}),
                TestPlane.CODEC));
  }

  @AfterEach
  void close() {
    server.close();
  }

  /** A frame for a path that nobody serves, so that its acknowledgement names the path. */
  private static byte[] frame() {
    return RawPeer.request(
        "nobody".getBytes(UTF_8), "{}".getBytes(UTF_8), ByteBuffer.allocate(FRAME).array());
  }

  private void awaitArriving(long bytes) {
    long until = System.nanoTime() + TestPlane.PATIENCE.toNanos();
    while (server.arriving.taken() != bytes) {
      assertThat(System.nanoTime() - until).as("%d taken", server.arriving.taken()).isNegative();
      LockSupport.parkNanos(1_000_000);
    }
  }

  @Test
  void partsBeyondTheBudgetAreRefusedAndTheFirstIsReadToItsEnd() throws IOException {
    var frame = frame();
    try (var first = RawPeer.dial(address);
        var second = RawPeer.dial(address)) {
      first.write(Arrays.copyOf(frame, PART));
      awaitArriving(PART - RequestReceiver.FREE_BYTES);
      second.write(Arrays.copyOf(frame, PART));
      assertThat(second.readAck()).isEqualTo(Acks.OVERLOADED);
      second.awaitGone();
      assertThat(metrics.counter(TransportMetrics.REJECTED).value()).isEqualTo(1);

      first.write(Arrays.copyOfRange(frame, PART, frame.length)); // alone, it may exceed the budget
      assertThat(first.readAck()).contains("nobody");
      awaitArriving(0);
    }
  }

  @Test
  void aRequesterThatGoesGivesItsShareBack() throws IOException {
    var part = Arrays.copyOf(frame(), PART);
    for (int i = 0; i < 3; i++) {
      try (var peer = RawPeer.dial(address)) {
        peer.write(part);
        awaitArriving(PART - RequestReceiver.FREE_BYTES);
        peer.reset();
      }
      awaitArriving(0);
    }
  }
}
