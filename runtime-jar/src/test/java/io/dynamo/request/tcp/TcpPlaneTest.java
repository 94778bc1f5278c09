package io.dynamo.request.tcp;

import static org.assertj.core.api.Assertions.assertThat;

import io.dynamo.config.plane.TcpSettings;
import io.dynamo.discovery.Instance;
import io.dynamo.discovery.TransportAddress;
import io.dynamo.error.ErrorCode;
import io.dynamo.error.InvalidRequestException;
import io.dynamo.error.WorkerLostException;
import io.dynamo.inference.EngineOutput;
import io.dynamo.metrics.TransportMetrics;
import io.dynamo.net.PayloadFormat;
import io.dynamo.request.RequestContext;
import io.dynamo.testing.ClosedPort;
import java.io.IOException;
import java.net.ServerSocket;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import java.util.function.LongSupplier;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.Test;

/** The contract over TCP, and what only its connections show. */
class TcpPlaneTest extends RequestPlaneContract {
  private final List<AutoCloseable> owned = new ArrayList<>();

  @Override
  TestPlane open(TcpSettings settings, LongSupplier nanoTime) {
    return new TestPlane(settings, nanoTime);
  }

  @AfterEach
  void closeOwned() throws Exception {
    for (var one : owned) {
      one.close();
    }
  }

  @Override
  Instance absent() {
    var closed = new ClosedPort();
    owned.add(closed);
    return at(closed.number());
  }

  @Override
  Instance silent() throws IOException {
    var socket = new ServerSocket(0);
    owned.add(socket);
    return at(socket.getLocalPort());
  }

  @Test
  void requestsShareAConnectionOneAfterTheOther() throws Exception {
    var served = serveByHand(8);
    for (int i = 0; i < 3; i++) {
      var caller = Collector.all(plane.call(served));
      next().answer().complete();
      assertThat(caller.awaitCompletion()).isEmpty();
      plane.awaitAcknowledged();
    }
    assertThat(plane.client.connections()).isEqualTo(1);
    assertThat(plane.metrics.counter(TransportMetrics.TCP_BYTES_SENT).value()).isPositive();
    plane.awaitNothingLeft();
  }

  @Test
  void headersThatFitNoFrameLeaveTheSharedConnectionAlone() throws Exception {
    var served = serveByHand(8);
    var running = Collector.all(plane.call(served));
    var request = next();
    var plain = TestPlane.context();
    var bulky =
        new RequestContext(
            plain.id(),
            plain.metadata(),
            Map.of("tracestate", "x".repeat(70_000)),
            plain.deadline(),
            plain.cancellation());
    assertThat(Collector.all(plane.call(plane.instance(served), bulky)).awaitFailure())
        .isInstanceOf(InvalidRequestException.class)
        .hasMessageContaining("request headers of ");
    request.answer().offer(EngineOutput.ofTokens(1));
    request.answer().complete();
    assertThat(running.awaitCompletion()).hasSize(1);
    var after = Collector.all(plane.call(served));
    next().answer().complete();
    assertThat(after.awaitCompletion()).isEmpty();
  }

  @Test
  void aWorkerWithoutAListenerCannotBeConnected() throws Exception {
    assertThat(Collector.all(plane.call(absent(), TestPlane.context())).awaitFailure())
        .isInstanceOfSatisfying(
            WorkerLostException.class,
            lost -> assertThat(lost.code()).isEqualTo(ErrorCode.CANNOT_CONNECT));
  }

  @Test
  void aMissingAcknowledgementIsCounted() throws Exception {
    restart(TestPlane.impatient(Duration.ofMillis(50), Duration.ofSeconds(5)));
    Collector.all(plane.call(silent(), TestPlane.context())).awaitFailure();
    TestPlane.awaitCount(plane.metrics.counter(TransportMetrics.TCP_ERRORS), 1);
  }

  @Test
  void aWorkerOnNatsIsNotReachedWithoutNats() throws Exception {
    var elsewhere =
        new Instance(
            TestPlane.ENDPOINT,
            TestPlane.ID,
            TransportAddress.Nats.of(TestPlane.ENDPOINT, TestPlane.ID),
            null,
            PayloadFormat.MSGPACK);
    assertThat(Collector.all(plane.call(elsewhere, TestPlane.context())).awaitFailure())
        .isInstanceOf(WorkerLostException.class)
        .hasMessageContaining("set dynamo.request.plane=nats");
  }

  private static Instance at(int port) {
    return new Instance(
        TestPlane.ENDPOINT,
        TestPlane.ID,
        new TransportAddress.Tcp(
            "127.0.0.1:" + port, TestPlane.ID.hex() + "/" + TestPlane.ENDPOINT),
        null,
        PayloadFormat.MSGPACK);
  }
}
