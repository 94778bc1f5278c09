package io.dynamo.request.tcp;

import static java.util.Objects.requireNonNull;
import static org.assertj.core.api.Assertions.assertThat;

import io.dynamo.config.plane.TcpSettings;
import io.dynamo.discovery.DiscoveryJson;
import io.dynamo.discovery.Instance;
import io.dynamo.discovery.TransportAddress;
import io.dynamo.error.ErrorCode;
import io.dynamo.error.InvalidRequestException;
import io.dynamo.error.WorkerLostException;
import io.dynamo.event.Until;
import io.dynamo.inference.EngineOutput;
import io.dynamo.nats.NatsLink;
import io.dynamo.net.PayloadFormat;
import io.dynamo.request.nats.NatsCarrier;
import io.dynamo.testing.ManualAlarms;
import io.dynamo.testing.ManualClock;
import io.dynamo.testing.NatsServer;
import io.dynamo.testing.TestSettings;
import io.dynamo.wire.request.ControlMessage;
import io.nats.client.Nats;
import java.nio.ByteBuffer;
import java.nio.charset.StandardCharsets;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.List;
import java.util.Map;
import java.util.function.LongSupplier;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.Test;

/** The contract over a real NATS server, and the bytes of Dynamo 1.6.1. */
class NatsPlaneTest extends RequestPlaneContract {
  private final List<AutoCloseable> owned = new ArrayList<>();

  @Override
  TestPlane open(TcpSettings settings, LongSupplier nanoTime) {
    return onNats(NatsServer.shared(), settings, nanoTime);
  }

  private TestPlane onNats(NatsServer server, TcpSettings settings, LongSupplier nanoTime) {
    var link =
        NatsLink.open(
            TestSettings.with(Map.of("dynamo.nats.servers", server.url())).nats(),
            new ManualAlarms(ManualClock.now()));
    owned.add(link);
    var carrier = new NatsCarrier(link, settings.timeouts().acknowledgement());
    owned.add(carrier);
    return new TestPlane(settings, carrier, nanoTime);
  }

  @AfterEach
  void closeLinks() throws Exception {
    plane.close();
    for (var one : owned.reversed()) {
      one.close();
    }
  }

  private static Instance at(TransportAddress.Nats address) {
    return new Instance(TestPlane.ENDPOINT, TestPlane.ID, address, "cpu", PayloadFormat.MSGPACK);
  }

  @Override
  Instance absent() {
    return at(new TransportAddress.Nats("dynamo_backend.generate-gone"));
  }

  @Override
  Instance silent() throws Exception {
    var connection = Nats.connect(NatsServer.shared().url());
    owned.add(connection);
    connection.subscribe("dynamo_backend.generate-silent", "q");
    connection.flush(TestPlane.PATIENCE);
    return at(new TransportAddress.Nats("dynamo_backend.generate-silent"));
  }

  @Test
  void nobodyAtTheSubjectIsKnownAtOnceAndLetsTheRequestMigrate() throws Exception {
    assertThat(Collector.all(plane.call(absent(), TestPlane.context())).awaitFailure())
        .isInstanceOfSatisfying(
            WorkerLostException.class,
            lost -> assertThat(lost.code()).isEqualTo(ErrorCode.WORKER_UNAVAILABLE))
        .hasMessageContaining("nobody serves the NATS subject dynamo_backend.generate-gone");
  }

  @Test
  void anInstanceAdvertisesItsSubjectAsDynamosDoes() throws Exception {
    var served = serveByHand(8);
    var text = DiscoveryJson.encode(plane.instance(served));
    assertThat(new String(text, StandardCharsets.UTF_8))
        .contains("\"transport\":{\"nats_tcp\":\"dynamo_backend.generate-ec5ccfe8392a8f5e\"}");

    try (var in =
        NatsPlaneTest.class.getResourceAsStream("/golden/request-nats/instance.generate.json")) {
      var captured = (Instance) DiscoveryJson.decode(in.readAllBytes());
      assertThat(captured.transport())
          .isEqualTo(TransportAddress.Nats.of(captured.endpoint(), captured.id()));
    }
  }

  @Test
  void aRequestHasDynamosFormOnTheWire() throws Exception {
    var connection = Nats.connect(NatsServer.shared().url());
    owned.add(connection);
    var silent = silent();
    var messages = connection.subscribe(silent.transport().toString());
    connection.flush(TestPlane.PATIENCE);

    var caller = Collector.all(plane.call(silent, TestPlane.context()));
    var message = messages.nextMessage(TestPlane.PATIENCE);
    caller.cancel();

    assertThat(message.getReplyTo()).isNotNull();
    assertThat(message.getHeaders().getFirst("request-id")).isEqualTo(TestPlane.context().id());
    assertThat(message.getHeaders().getFirst("x-frontend-send-ts-ns")).matches("\\d+");
    assertThat(message.getHeaders().containsKey("x-endpoint-path")).isFalse();
    var frame = RequestFrame.ofPayload(message.getData());
    var control = ControlMessage.ofJson(ByteBuffer.wrap(frame.control()));
    assertThat(control.id()).isEqualTo(TestPlane.context().id());
    assertThat(control.requestType()).isEqualTo(ControlMessage.SINGLE_IN);
    assertThat(frame.payload()).isEqualTo(message.getData());
  }

  @Test
  void aRequestOfDynamoIsAcknowledgedByAnEmptyReplyAndAnswered() throws Exception {
    byte[] captured;
    try (var in =
        NatsPlaneTest.class.getResourceAsStream("/golden/request-nats/generate.hpub.bin")) {
      captured = in.readAllBytes();
    }
    int line = new String(captured, StandardCharsets.ISO_8859_1).indexOf("\r\n") + 2;
    var words = new String(captured, 0, line - 2, StandardCharsets.US_ASCII).split(" ", -1);
    int headers = Integer.parseInt(words[3]);
    var payload = Arrays.copyOfRange(captured, line + headers, line + Integer.parseInt(words[4]));
    serveByHand(8);
    var connection = Nats.connect(NatsServer.shared().url());
    owned.add(connection);

    var reply =
        connection.request(
            TransportAddress.Nats.of(TestPlane.ENDPOINT, TestPlane.ID).subject(),
            payload,
            TestPlane.PATIENCE);

    assertThat(requireNonNull(reply).getData())
        .isEmpty(); // its frontend, at another address, cannot be called
  }

  @Test
  void aRequestLargerThanTheServerAcceptsIsRefusedBeforeItIsSent() throws Exception {
    try (var small = NatsServer.start("max_payload: 300")) {
      plane.close();
      plane =
          onNats(small, TestPlane.settings(PayloadFormat.MSGPACK, 1 << 20, 8), System::nanoTime);
      assertThat(Collector.all(plane.call(serveByHand(8))).awaitFailure())
          .isInstanceOf(InvalidRequestException.class)
          .hasMessageContaining("exceeds max_payload of the NATS server, 300 bytes");
      plane.close();
    }
  }

  @Test
  void aServerThatComesBackServesAgainAndRunningStreamsGoOn() throws Exception {
    try (var server = NatsServer.start("")) {
      plane.close();
      plane =
          onNats(server, TestPlane.settings(PayloadFormat.MSGPACK, 1 << 20, 8), System::nanoTime);
      var served = serveByHand(8);
      var running = Collector.all(plane.call(served));
      var request = next();
      server.kill();
      assertThat(Collector.all(plane.call(served)).awaitFailure())
          .isInstanceOf(WorkerLostException.class);
      request.answer().offer(EngineOutput.ofTokens(1));
      request.answer().complete();
      assertThat(running.awaitCompletion()).hasSize(1);

      server.restart();
      var callers = new ArrayList<Collector<EngineOutput>>(); // their requests may arrive late
      Until.holds(
          () -> {
            try {
              callers.add(Collector.all(plane.call(served)));
              for (var again = poll(); again != null; again = poll()) {
                again.answer().complete();
              }
              return callers.stream().anyMatch(Collector::hasCompleted);
            } catch (InterruptedException e) {
              throw new IllegalStateException(e);
            }
          });
      plane.close();
    }
  }
}
