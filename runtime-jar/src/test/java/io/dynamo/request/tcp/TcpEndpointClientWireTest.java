package io.dynamo.request.tcp;

import static org.assertj.core.api.Assertions.assertThat;

import io.dynamo.concurrent.Cancellation;
import io.dynamo.discovery.Instance;
import io.dynamo.discovery.TransportAddress;
import io.dynamo.error.CancelledException;
import io.dynamo.error.DynamoException;
import io.dynamo.error.EngineFailedException;
import io.dynamo.error.ErrorCode;
import io.dynamo.error.Migratable;
import io.dynamo.inference.Annotation;
import io.dynamo.inference.EngineOutput;
import io.dynamo.inference.FinishReason;
import io.dynamo.net.PayloadFormat;
import io.dynamo.pipeline.CallHomeServer;
import io.dynamo.pipeline.ConnectionLimit;
import io.dynamo.pipeline.StreamLimits;
import io.dynamo.wire.Golden;
import java.io.ByteArrayOutputStream;
import java.io.IOException;
import java.net.InetAddress;
import java.net.InetSocketAddress;
import java.net.ServerSocket;
import java.nio.ByteBuffer;
import java.nio.charset.StandardCharsets;
import java.time.Duration;
import java.util.Arrays;
import java.util.List;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;
import org.junit.jupiter.params.provider.ValueSource;

/** The requester's side against a worker that plays captured bytes on plain sockets. */
class TcpEndpointClientWireTest {
  private static final byte[] ACCEPTED = new byte[4];
  private static final byte[] NOTHING = {};
  private static final byte[] PROLOGUE = RawPeer.frame("{\"error\":null}", NOTHING);

  private TestPlane plane = new TestPlane();
  private ServerSocket worker;

  @BeforeEach
  void listen() throws IOException {
    worker = RawPeer.listen();
  }

  /** Checks after each test that nothing is left of its call, and that the next one is answered. */
  @AfterEach
  void theRequesterLivesOn() throws Exception {
    plane.awaitNothingLeft();
    try (var next = RawPeer.listen()) {
      worker.close();
      worker = next;
      var caller = call();
      try (var called = new AcknowledgedCall(ACCEPTED)) {
        called.stream.write(Captured.answer("chat-stream.w2f.bin", called.subject));
        caller.awaitCompletion();
      }
    }
    plane.close();
  }

  private void restart(TestPlane with) {
    plane.close();
    plane = with;
  }

  private Collector<EngineOutput> call() {
    return call(PayloadFormat.MSGPACK, new Cancellation());
  }

  private Collector<EngineOutput> call(PayloadFormat format, Cancellation cancellation) {
    var address =
        new TransportAddress.Tcp("127.0.0.1:" + worker.getLocalPort(), Captured.CHAT_PATH);
    return Collector.all(
        plane.call(
            new Instance(TestPlane.ENDPOINT, TestPlane.ID, address, "cpu", format),
            TestPlane.context(cancellation)));
  }

  /** A worker that has a request, has acknowledged it and stands at the requester's door. */
  private final class AcknowledgedCall implements AutoCloseable {
    final RawPeer requests;
    final RawPeer stream;
    final String subject;

    AcknowledgedCall(byte[] ack) throws IOException {
      requests = RawPeer.accept(worker);
      var request = requests.readRequest();
      assertThat(request.path()).asString().isEqualTo(Captured.CHAT_PATH);
      subject = Captured.subject(request);
      requests.write(ack);
      stream = RawPeer.dial(Captured.home(request));
    }

    void handshakeAndPrologue() throws IOException {
      stream.write(Captured.handshake(subject));
      stream.write(PROLOGUE);
    }

    @Override
    public void close() throws IOException {
      stream.close();
      requests.close();
    }
  }

  private static ErrorCode codeOf(Collector<?> caller) throws InterruptedException {
    var failure = caller.awaitFailure();
    assertThat(failure).isInstanceOf(DynamoException.class);
    return ((DynamoException) failure).code();
  }

  private static void assertDisconnected(Collector<?> caller) throws InterruptedException {
    assertThat(caller.awaitFailure()).isInstanceOf(Migratable.class);
    assertThat(codeOf(caller)).isEqualTo(ErrorCode.DISCONNECTED);
  }

  @ParameterizedTest
  @CsvSource({
    "chat-stream.w2f.bin, MSGPACK, 5",
    "completions.w2f.bin, MSGPACK, 3",
    "frontend-json-codec.w2f.bin, JSON, -1",
    "generate-json.w2f.bin, JSON, -1",
    "disagg-prefill.w2f.bin, MSGPACK, -1"
  })
  void capturedAnswersArriveWhole(String name, PayloadFormat format, int count) throws Exception {
    var caller = call(format, new Cancellation());
    try (var called = new AcknowledgedCall(ACCEPTED)) {
      called.stream.write(Captured.answer(name, called.subject));
      var items = caller.awaitCompletion();
      int captured = Golden.bodies(name).size() - 1; // the last is the end mark
      assertThat(items).hasSize(captured).hasSize(count < 0 ? captured : count);
      assertThat(items.getLast().finishReason()).isNotNull();
      called.stream.awaitEnd();
    }
  }

  @Test
  void theTokensOfTheCapturedChatArriveInOrder() throws Exception {
    var caller = call();
    try (var called = new AcknowledgedCall(ACCEPTED)) {
      for (byte each : Captured.answer("chat-stream.w2f.bin", called.subject)) {
        called.stream.write(new byte[] {each}); // one by one: no frame comes whole
      }
      var items = caller.awaitCompletion();
      assertThat(items.getFirst().tokenIds()).containsExactly(1484);
      assertThat(items.getFirst().usage()).isNotNull();
      assertThat(items.getLast().finishReason()).isEqualTo(FinishReason.LENGTH);
    }
  }

  @Test
  void anErrorItemFollowsTheItemsBeforeIt() throws Exception {
    var caller = call();
    try (var called = new AcknowledgedCall(ACCEPTED)) {
      called.handshakeAndPrologue();
      called.stream.write(RawPeer.frame("", Golden.bodies("chat-stream.w2f.bin").getFirst()));
      for (byte[] body : Golden.bodies("error-after-item.w2f.bin").subList(1, 3)) {
        called.stream.write(RawPeer.frame("", body)); // the item before is not one of an engine
      }
      assertThat(codeOf(caller)).isEqualTo(ErrorCode.BACKEND_INVALID_ARGUMENT);
      assertThat(caller.items()).hasSize(1);
    }
  }

  @Test
  void aRefusalInThePrologueFailsTheCall() throws Exception {
    var caller = call();
    try (var called = new AcknowledgedCall(ACCEPTED)) {
      called.stream.write(Captured.answer("prologue-error.w2f.bin", called.subject));
      assertThat(caller.awaitFailure())
          .hasMessageContaining("must generate at least one output token");
    }
  }

  @Test
  void theWorkerMayCallBeforeItAcknowledges() throws Exception {
    var caller = call();
    try (var called = new AcknowledgedCall(NOTHING)) {
      called.stream.write(Captured.answer("chat-stream.w2f.bin", called.subject));
      assertThat(caller.awaitCompletion()).hasSize(5);
    }
  }

  @ParameterizedTest
  @ValueSource(booleans = {false, true})
  void aConnectionLostInTheStreamIsMigratable(boolean reset) throws Exception {
    var caller = call();
    try (var called = new AcknowledgedCall(ACCEPTED)) {
      called.stream.write(Captured.answer("migration-first-aborted.w2f.bin", called.subject));
      caller.awaitItems(1);
      if (reset) {
        called.stream.reset();
      } else {
        called.stream.finish();
      }
      assertDisconnected(caller);
      assertThat(caller.items()).hasSize(1);
    }
  }

  @Test
  void aSentinelWithoutAnEndMarkIsALostConnection() throws Exception {
    var caller = call();
    try (var called = new AcknowledgedCall(ACCEPTED)) {
      called.handshakeAndPrologue();
      called.stream.write(RawPeer.frame("\"sentinel\"", NOTHING));
      assertDisconnected(caller);
    }
  }

  @Test
  void anEndInsideAFrameIsALostConnection() throws Exception {
    var caller = call();
    try (var called = new AcknowledgedCall(ACCEPTED)) {
      var whole = Captured.answer("chat-stream.w2f.bin", called.subject);
      called.stream.write(Arrays.copyOf(whole, whole.length - 60));
      called.stream.finish();
      assertDisconnected(caller);
    }
  }

  @ParameterizedTest
  @CsvSource({
    "unknown-endpoint, WORKER_UNAVAILABLE",
    "path-not-utf8, CANNOT_CONNECT",
    "too-large, INVALID_ARGUMENT"
  })
  void aCapturedRefusalFailsTheCall(String name, ErrorCode code) throws Exception {
    var caller = call();
    try (var requests = RawPeer.accept(worker)) {
      requests.readRequest();
      requests.write(Golden.bytes("request-tcp/" + name + ".ack.bin"));
      assertThat(codeOf(caller)).isEqualTo(code);
    }
  }

  @Test
  void anAcknowledgementBeyondTheBoundIsALostWorker() throws Exception {
    var caller = call();
    try (var requests = RawPeer.accept(worker)) {
      requests.readRequest();
      requests.write(new byte[] {-1, -1, -1, -1});
      assertThat(caller.awaitFailure()).isInstanceOf(Migratable.class);
      requests.awaitGone();
    }
  }

  @ParameterizedTest
  @ValueSource(booleans = {false, true})
  void aWorkerThatClosesInsteadOfAcknowledgingIsLost(boolean reset) throws Exception {
    var caller = call();
    try (var requests = RawPeer.accept(worker)) {
      requests.readRequest();
      if (reset) {
        requests.reset();
      } else {
        requests.finish();
      }
      assertThat(caller.awaitFailure()).isInstanceOf(Migratable.class);
    }
  }

  @Test
  void aWorkerThatAcknowledgesAndNeverCallsIsLost() throws Exception {
    restart(new TestPlane(TestPlane.impatient(Duration.ofSeconds(5), Duration.ofMillis(50))));
    var caller = call();
    try (var requests = RawPeer.accept(worker)) {
      requests.readRequest();
      requests.write(ACCEPTED);
      assertThat(caller.awaitFailure()).isInstanceOf(Migratable.class);
      assertThat(codeOf(caller)).isEqualTo(ErrorCode.CONNECTION_TIMEOUT);
    }
    restart(new TestPlane());
  }

  @Test
  void aWorkerThatCallsAndStaysSilentIsLost() throws Exception {
    restart(new TestPlane(TestPlane.impatient(Duration.ofSeconds(5), Duration.ofMillis(200))));
    var caller = call();
    try (var called = new AcknowledgedCall(ACCEPTED)) {
      called.stream.write(Captured.handshake(called.subject));
      assertThat(caller.awaitFailure()).isInstanceOf(Migratable.class);
      called.stream.awaitGone();
    }
    restart(new TestPlane());
  }

  @Test
  void aSubjectThatNobodyWaitsForIsReset() throws Exception {
    var caller = call();
    try (var called = new AcknowledgedCall(ACCEPTED)) {
      try (var stranger = RawPeer.dial(plane.client.callHomeAddress)) {
        stranger.write(Captured.handshake(Captured.CHAT_SUBJECT));
        stranger.awaitReset();
      }
      called.stream.write(Captured.answer("chat-stream.w2f.bin", called.subject));
      caller.awaitCompletion();
      try (var again = RawPeer.dial(plane.client.callHomeAddress)) {
        again.write(Captured.handshake(called.subject));
        again.awaitReset();
      }
    }
  }

  @ParameterizedTest
  @ValueSource(strings = {"noise", "no JSON", "huge header", "negative body", "with a body"})
  void aHandshakeThatIsNoneIsReset(String kind) throws Exception {
    byte[] bytes =
        switch (kind) {
          case "no JSON" -> RawPeer.frame("\"sentinel\"", NOTHING);
          case "huge header" -> ByteBuffer.allocate(24).putLong(1L << 40).array();
          case "negative body" -> ByteBuffer.allocate(24).putLong(1).putLong(-1).array();
          case "with a body" -> RawPeer.frame("{}", new byte[] {1});
          default -> "GET / HTTP/1.1\r\nHost: requester\r\n\r\n".getBytes(StandardCharsets.UTF_8);
        };
    try (var stranger = RawPeer.dial(plane.client.callHomeAddress)) {
      stranger.write(bytes);
      stranger.awaitReset();
    }
  }

  @Test
  void silentConnectionsAreReset() throws Exception {
    var address = new InetSocketAddress(InetAddress.getLoopbackAddress(), 0);
    try (var listener =
            new CallHomeServer(
                TestPlane.LOOPS,
                null,
                address,
                new ConnectionLimit(8, () -> {}),
                new StreamLimits(1024, Duration.ofMillis(50), Duration.ZERO));
        var silent = RawPeer.dial(SocketAddresses.format(listener.address()));
        var half = RawPeer.dial(SocketAddresses.format(listener.address()))) {
      half.write(new byte[10]);
      silent.awaitReset();
      half.awaitReset();
    }
  }

  @ParameterizedTest
  @ValueSource(strings = {"header and data", "unknown control", "stop", "huge body"})
  void aWorkerThatSpeaksNonsenseIsToldToStopAndLost(String kind) throws Exception {
    byte[] nonsense =
        switch (kind) {
          case "header and data" -> RawPeer.frame("\"sentinel\"", new byte[] {1});
          case "unknown control" -> RawPeer.frame("{\"sentinel\":", NOTHING);
          case "stop" -> RawPeer.frame("\"stop\"", NOTHING);
          default -> ByteBuffer.allocate(24).putLong(0).putLong(Long.MAX_VALUE).array();
        };
    var caller = call();
    try (var called = new AcknowledgedCall(ACCEPTED)) {
      called.handshakeAndPrologue();
      called.stream.write(nonsense);
      assertDisconnected(caller);
      assertThat(called.stream.readFrame().header()).asString().isEqualTo("\"kill\"");
      called.stream.awaitGone();
    }
  }

  @ParameterizedTest
  @ValueSource(strings = {"no map", "no item", "after the end mark"})
  void anItemThatIsNoneFailsTheCall(String kind) throws Exception {
    var body = Golden.bodies("chat-stream.w2f.bin").getFirst();
    byte[] sent =
        switch (kind) {
          case "no map" -> RawPeer.frame("", new byte[] {(byte) 0xc1, 1, 2});
          case "no item" -> RawPeer.frame("", Arrays.copyOf(body, body.length - 20));
          default -> {
            var both = new ByteArrayOutputStream();
            both.writeBytes(RawPeer.frame("", Captured.END_MARK));
            both.writeBytes(RawPeer.frame("", body));
            yield both.toByteArray();
          }
        };
    var caller = call();
    try (var called = new AcknowledgedCall(ACCEPTED)) {
      called.handshakeAndPrologue();
      called.stream.write(sent);
      assertThat(caller.awaitFailure()).isInstanceOf(EngineFailedException.class);
      assertThat(called.stream.readFrame().header()).asString().isEqualTo("\"kill\"");
      called.stream.awaitGone();
    }
  }

  @Test
  void anEmptyFrameIsIgnored() throws Exception {
    var caller = call();
    var frames = Golden.bodies("chat-stream.w2f.bin");
    try (var called = new AcknowledgedCall(ACCEPTED)) {
      called.handshakeAndPrologue();
      for (var body : frames) {
        called.stream.write(RawPeer.frame("", NOTHING));
        called.stream.write(RawPeer.frame("", body));
      }
      called.stream.write(RawPeer.frame("", NOTHING));
      called.stream.write(RawPeer.frame("\"sentinel\"", NOTHING));
      assertThat(caller.awaitCompletion()).hasSize(frames.size() - 1);
    }
  }

  private static byte[] json(String frame) {
    return RawPeer.frame("", frame.getBytes(StandardCharsets.UTF_8));
  }

  @Test
  void anItemOfAnEventAndCommentsIsPassedOnInItsPlace() throws Exception {
    var caller = call(PayloadFormat.JSON, new Cancellation());
    try (var called = new AcknowledgedCall(ACCEPTED)) {
      called.handshakeAndPrologue();
      called.stream.write(
          json(
              "{\"data\":{\"event\":\"note\",\"comment\":[\"a\",\"b\"]},\"complete_final\":false}"));
      called.stream.write(
          json(
              "{\"data\":{\"data\":{\"token_ids\":[7]},\"event\":\"beside"
                  + " data\"},\"complete_final\":false}"));
      for (var dropped :
          new String[] {
            "{\"event\":\"llm_metrics\",\"comment\":[\"1\"]}",
            "{\"event\":\"payload_usage\"}",
            "{\"comment\":[\"without an event\"]}",
            "{\"event\":\"long\",\"comment\":[\"" + "x".repeat(70_000) + "\"]}"
          }) {
        called.stream.write(json("{\"data\":" + dropped + ",\"complete_final\":false}"));
      }
      called.stream.write(json("{\"data\":{\"event\":\"done\"},\"complete_final\":false}"));
      called.stream.write(json("{\"complete_final\":true}"));
      called.stream.write(RawPeer.frame("\"sentinel\"", NOTHING));
      var items = caller.awaitCompletion();
      assertThat(items).hasSize(3);
      assertThat(items.get(0).annotation()).isEqualTo(new Annotation("note", List.of("a", "b")));
      assertThat(items.get(0).tokenIds()).isEmpty();
      assertThat(items.get(1).annotation()).isNull();
      assertThat(items.get(1).tokenIds()).containsExactly(7);
      assertThat(items.get(2).annotation()).isEqualTo(new Annotation("done", List.of()));
    }
  }

  @Test
  void aPrologueThatIsNoneFailsTheCall() throws Exception {
    var caller = call();
    try (var called = new AcknowledgedCall(ACCEPTED)) {
      called.stream.write(Captured.handshake(called.subject));
      called.stream.write(RawPeer.frame("nonsense", NOTHING));
      assertThat(caller.awaitFailure()).isInstanceOf(EngineFailedException.class);
      assertThat(called.stream.readFrame().header()).asString().isEqualTo("\"kill\"");
    }
  }

  @Test
  void aKillIsSaidInTheCapturedBytesThenTheConnectionCloses() throws Exception {
    var cancellation = new Cancellation();
    var caller = call(PayloadFormat.MSGPACK, cancellation);
    try (var called = new AcknowledgedCall(ACCEPTED)) {
      called.stream.write(Captured.answer("chat-cancelled.w2f.head.bin", called.subject));
      caller.awaitItems(1);
      cancellation.kill();
      assertThat(caller.awaitFailure()).isInstanceOf(CancelledException.class);
      assertThat(called.stream.readAll())
          .isEqualTo(Golden.bytes("response-stream/chat-cancelled.f2w.bin"));
    }
  }

  @Test
  void aCallThatIsCancelledBeforeTheWorkerCallsTurnsItAway() throws Exception {
    var cancellation = new Cancellation();
    var caller = call(PayloadFormat.MSGPACK, cancellation);
    try (var called = new AcknowledgedCall(ACCEPTED)) {
      cancellation.kill();
      assertThat(caller.awaitFailure()).isInstanceOf(CancelledException.class);
      called.stream.write(Captured.handshake(called.subject));
      called.stream.awaitReset();
    }
  }
}
