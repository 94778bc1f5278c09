package io.dynamo.request.tcp;

import static org.assertj.core.api.Assertions.assertThat;

import io.dynamo.concurrent.Cancellation;
import io.dynamo.concurrent.Deadline;
import io.dynamo.concurrent.ItemStream;
import io.dynamo.discovery.EndpointId;
import io.dynamo.discovery.InstanceId;
import io.dynamo.error.CancelledException;
import io.dynamo.error.ErrorCode;
import io.dynamo.error.InvalidRequestException;
import io.dynamo.error.WorkerLostException;
import io.dynamo.inference.EngineOutput;
import io.dynamo.net.PayloadFormat;
import io.dynamo.request.EndpointServer;
import io.dynamo.request.RequestContext;
import io.dynamo.testing.ClosedPort;
import io.dynamo.wire.Golden;
import io.dynamo.wire.request.DynamoError;
import io.dynamo.wire.request.Prologue;
import io.dynamo.wire.request.ResponseEnvelope;
import io.netty.buffer.Unpooled;
import java.io.ByteArrayOutputStream;
import java.io.IOException;
import java.net.ServerSocket;
import java.nio.ByteBuffer;
import java.nio.charset.StandardCharsets;
import java.time.Duration;
import java.util.Arrays;
import java.util.Map;
import java.util.concurrent.ArrayBlockingQueue;
import java.util.concurrent.BlockingQueue;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.TimeUnit;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;

/** The worker's side against a requester that plays captured bytes on plain sockets. */
class TcpEndpointServerWireTest {
  private static final int DYNAMO_MAX_BYTES = 32 << 20;
  private static final byte[] NOTHING = {};

  /** A request that the handler has, and the stream that answers it. */
  private record Running(RequestContext context, ItemStream<EngineOutput> answer) {
    CompletableFuture<Cancellation.Level> cancelled() {
      var level = new CompletableFuture<Cancellation.Level>();
      context.cancellation().onCancel(level::complete);
      return level;
    }
  }

  private final BlockingQueue<Running> running = new ArrayBlockingQueue<>(16);
  private TestPlane plane =
      new TestPlane(TestPlane.settings(PayloadFormat.MSGPACK, DYNAMO_MAX_BYTES, 8));
  private EndpointServer.Served served = serve(TestPlane.ENDPOINT, TestPlane.ID);
  private ServerSocket home;

  @BeforeEach
  void listen() throws IOException {
    home = RawPeer.listen();
  }

  /**
   * Checks after each test that the worker still serves, and that nothing is left of the requests.
   */
  @AfterEach
  void theWorkerLivesOn() throws Exception {
    try (var requester = dial()) {
      requester.write(unknown("1f/a/b/c"));
      assertThat(requester.readAck()).isEqualTo(Acks.unknownEndpoint("1f/a/b/c"));
    }
    assertThat(served.drain(Deadline.after(TestPlane.PATIENCE))).as("all requests ended").isTrue();
    home.close();
    plane.close();
  }

  private void restart(TestPlane with) {
    plane.close();
    plane = with;
    served = serve(TestPlane.ENDPOINT, TestPlane.ID);
  }

  private EndpointServer.Served serve(EndpointId endpoint, InstanceId id) {
    return plane.server.serve(
        endpoint,
        id,
        (request, context) -> {
          var answer = new ItemStream<EngineOutput>(8, () -> {}, () -> {});
          running.add(new Running(context, answer));
          return answer;
        },
        TestPlane.CODEC);
  }

  private Running next() throws InterruptedException {
    var next = running.poll(TestPlane.PATIENCE.toMillis(), TimeUnit.MILLISECONDS);
    if (next == null) {
      throw new AssertionError("no request reaches the handler");
    }
    return next;
  }

  private static Cancellation.Level await(CompletableFuture<Cancellation.Level> level)
      throws Exception {
    return level.get(TestPlane.PATIENCE.toMillis(), TimeUnit.MILLISECONDS);
  }

  private RawPeer dial() throws IOException {
    return RawPeer.dial(TestPlane.tcpAddress(served));
  }

  private static byte[] unknown(String path) {
    return RawPeer.request(
        path.getBytes(StandardCharsets.UTF_8), "{}".getBytes(StandardCharsets.UTF_8), NOTHING);
  }

  /** Sends the captured chat and takes the call home; handshake and prologue are read. */
  private RawPeer calledHome() throws IOException {
    try (var requester = dial()) {
      requester.write(Captured.chat(home));
      assertThat(requester.readAck()).isEmpty();
    }
    var stream = RawPeer.accept(home);
    assertThat(stream.readFrame().header()).asString().contains(Captured.CHAT_SUBJECT);
    assertThat(stream.readFrame().header()).asString().isEqualTo("{\"error\":null}");
    return stream;
  }

  @Test
  void aCapturedChatIsAnsweredWithTheCapturedBytes() throws Exception {
    try (var requester = dial()) {
      requester.write(Captured.chat(home));
      assertThat(requester.readAck()).isEmpty();
      try (var stream = RawPeer.accept(home)) {
        var request = next();
        for (byte[] body : Golden.bodies("chat-stream.w2f.bin")) {
          var item = ResponseEnvelope.read(ByteBuffer.wrap(body), PayloadFormat.MSGPACK).item();
          if (item != null) {
            request.answer().offer(TestPlane.CODEC.decodeItem(item, PayloadFormat.MSGPACK));
          }
        }
        request.answer().complete();
        var captured = Golden.bytes("response-stream/chat-stream.w2f.bin");
        assertThat(stream.read(captured.length)).isEqualTo(captured);
        stream.finish();
        stream.awaitEnd();
      }
    }
  }

  @ParameterizedTest
  @ValueSource(strings = {"completions", "chat-unary-second", "traceparent", "migration-second"})
  void requestsOfEveryKindReachTheHandler(String name) throws Exception {
    var captured = Golden.request(name);
    try (var requester = dial()) {
      requester.write(Captured.patched(captured, Captured.CHAT_PATH, home));
      assertThat(requester.readAck()).isEmpty();
    }
    try (var stream = RawPeer.accept(home)) {
      assertThat(stream.readFrame().header()).asString().contains(Captured.subject(captured));
      next().answer().complete();
      assertThat(stream.readFrame().header()).asString().isEqualTo("{\"error\":null}");
      assertThat(stream.readFrame().body()).isEqualTo(Captured.END_MARK);
      assertThat(stream.readFrame().header()).asString().isEqualTo("\"sentinel\"");
    }
  }

  @Test
  void anUnknownEndpointIsRefusedAsCaptured() throws Exception {
    assertAck("unknown-endpoint");
  }

  @Test
  void aPathThatIsNoUtf8IsRefusedAsCapturedAndTheConnectionStaysOpen() throws Exception {
    try (var requester = dial()) {
      requester.write(Golden.bytes("request-tcp/path-not-utf8.request.bin"));
      var ack = Golden.bytes("request-tcp/path-not-utf8.ack.bin");
      assertThat(requester.read(ack.length)).isEqualTo(ack);
      requester.write(unknown("x"));
      assertThat(requester.readAck()).isEqualTo(Acks.unknownEndpoint("x"));
    }
  }

  private void assertAck(String name) throws IOException {
    try (var requester = dial()) {
      requester.write(Golden.bytes("request-tcp/" + name + ".request.bin"));
      var ack = Golden.bytes("request-tcp/" + name + ".ack.bin");
      assertThat(requester.read(ack.length)).isEqualTo(ack);
    }
  }

  @Test
  void aFrameThatIsTooLargeIsRefusedAtItsHeadAsCapturedThenTheConnectionCloses() throws Exception {
    try (var requester = dial()) {
      requester.write(Golden.bytes("request-tcp/too-large.request.head.bin"));
      assertThat(requester.readAll()).isEqualTo(Golden.bytes("request-tcp/too-large.ack.bin"));
    }
  }

  @Test
  void threeRequestsInOneWriteAreAcknowledgedInOrderAsCaptured() throws Exception {
    var out = new ByteArrayOutputStream();
    for (int i = 0; i < 3; i++) {
      out.writeBytes(Captured.chat(home));
    }
    var acks = Golden.bytes("request-tcp/three-requests-one-connection.acks.bin");
    try (var requester = dial()) {
      requester.write(out.toByteArray());
      assertThat(requester.read(acks.length)).isEqualTo(acks);
    }
    for (int i = 0; i < 3; i++) {
      try (var stream = RawPeer.accept(home)) {
        next().answer().complete();
        assertThat(stream.readFrame().header()).asString().contains(Captured.CHAT_SUBJECT);
      }
    }
  }

  @Test
  void aRefusalKeepsItsPlaceAmongTheAcknowledgements() throws Exception {
    var out = new ByteArrayOutputStream();
    out.writeBytes(unknown("a"));
    out.writeBytes(Captured.chat(home));
    out.writeBytes(unknown("b"));
    try (var requester = dial()) {
      requester.write(out.toByteArray());
      assertThat(requester.readAck()).isEqualTo(Acks.unknownEndpoint("a"));
      assertThat(requester.readAck()).isEmpty();
      assertThat(requester.readAck()).isEqualTo(Acks.unknownEndpoint("b"));
    }
    try (var stream = RawPeer.accept(home)) {
      next().answer().complete();
      stream.readFrame();
    }
  }

  @Test
  void aRequestThatComesByteByByteIsServed() throws Exception {
    try (var requester = dial()) {
      for (byte each : Captured.chat(home)) {
        requester.write(new byte[] {each});
      }
      assertThat(requester.readAck()).isEmpty();
    }
    try (var stream = RawPeer.accept(home)) {
      next().answer().complete();
      stream.readFrame();
    }
  }

  @ParameterizedTest
  @ValueSource(strings = {"", "{", "[]", "{\"id\":\"x\"}", "\u0000\u0001"})
  void aControlMessageThatIsNoneIsRefused(String control) throws Exception {
    var path = Captured.CHAT_PATH.getBytes(StandardCharsets.UTF_8);
    try (var requester = dial()) {
      requester.write(RawPeer.request(path, NOTHING, RawPeer.frame(control, NOTHING)));
      assertThat(requester.readAck()).isEqualTo(Acks.UNREADABLE);
      requester.write(unknown("x"));
      assertThat(requester.readAck()).isEqualTo(Acks.unknownEndpoint("x"));
    }
  }

  @Test
  void aPayloadThatAnnouncesMoreThanItHasIsRefused() throws Exception {
    var path = Captured.CHAT_PATH.getBytes(StandardCharsets.UTF_8);
    var huge = ByteBuffer.allocate(24).putLong(Long.MAX_VALUE).putLong(-1).array();
    try (var requester = dial()) {
      requester.write(RawPeer.request(path, NOTHING, huge));
      assertThat(requester.readAck()).isEqualTo(Acks.UNREADABLE);
      requester.write(RawPeer.request(path, NOTHING, Arrays.copyOf(huge, 10)));
      assertThat(requester.readAck()).isEqualTo(Acks.UNREADABLE);
    }
  }

  @Test
  void aRequesterThatStallsInsideAFrameIsCutOff() throws Exception {
    restart(new TestPlane(TestPlane.impatient(Duration.ofMillis(50), Duration.ofSeconds(5))));
    try (var requester = dial()) {
      requester.write(Arrays.copyOf(Captured.chat(home), 100));
      requester.awaitGone();
    }
  }

  @Test
  void anAddressThatNobodyListensOnFreesTheRequest() throws Exception {
    try (var nobody = new ClosedPort();
        var requester = dial()) {
      requester.write(Captured.chat(nobody.number()));
      assertThat(requester.readAck()).isEmpty();
      assertThat(served.drain(Deadline.after(TestPlane.PATIENCE))).isTrue();
    }
  }

  @Test
  void theEndOfTheRequestersStreamStopsTheRequest() throws Exception {
    try (var stream = calledHome()) {
      var request = next();
      var level = request.cancelled();
      stream.finish();
      assertThat(await(level)).isEqualTo(Cancellation.Level.STOP);
      request.answer().complete();
      assertThat(stream.readFrame().body()).isEqualTo(Captured.END_MARK);
      assertThat(stream.readFrame().header()).asString().isEqualTo("\"sentinel\"");
      stream.awaitEnd();
    }
  }

  @Test
  void aResetOfTheRequesterKillsTheRequest() throws Exception {
    try (var stream = calledHome()) {
      var level = next().cancelled();
      stream.reset();
      assertThat(await(level)).isEqualTo(Cancellation.Level.KILL);
    }
  }

  @Test
  void aStopFrameStopsTheRequest() throws Exception {
    try (var stream = calledHome()) {
      var request = next();
      var level = request.cancelled();
      stream.write(RawPeer.frame("\"stop\"", NOTHING));
      assertThat(await(level)).isEqualTo(Cancellation.Level.STOP);
      request.answer().complete();
      assertThat(stream.readFrame().body()).isEqualTo(Captured.END_MARK);
    }
  }

  @Test
  void theCapturedKillEndsTheStreamWithoutEndMarkOrSentinel() throws Exception {
    try (var stream = calledHome()) {
      var request = next();
      var level = request.cancelled();
      request.answer().offer(EngineOutput.ofTokens(1));
      assertThat(stream.readFrame().body()).isNotEmpty();
      stream.write(Golden.bytes("response-stream/chat-cancelled.f2w.bin"));
      assertThat(await(level)).isEqualTo(Cancellation.Level.KILL);
      stream.awaitEnd();
    }
  }

  @ParameterizedTest
  @ValueSource(strings = {"header and data", "data", "unknown control", "huge length", "noise"})
  void aRequesterThatSpeaksNonsenseKillsItsRequest(String kind) throws Exception {
    byte[] nonsense =
        switch (kind) {
          case "header and data" -> RawPeer.frame("\"kill\"", new byte[] {1});
          case "data" -> RawPeer.frame("", new byte[] {1});
          case "unknown control" -> RawPeer.frame("{\"stop\":", NOTHING);
          case "huge length" -> ByteBuffer.allocate(24).putLong(-1).array();
          default -> "GET / HTTP/1.1\r\nHost: worker\r\n\r\n".getBytes(StandardCharsets.UTF_8);
        };
    try (var stream = calledHome()) {
      var level = next().cancelled();
      stream.write(nonsense);
      assertThat(await(level)).isEqualTo(Cancellation.Level.KILL);
      stream.awaitGone();
    }
  }

  @Test
  void aDrainThatRunsOutOfTimeSaysSoBeforeTheSocketCloses() throws Exception {
    try (var stream = calledHome()) {
      var request = next();
      var level = request.cancelled();
      request.answer().offer(EngineOutput.ofTokens(1));
      assertThat(served.drain(Deadline.after(Duration.ZERO))).isFalse();
      served.close();
      assertThat(stream.readFrame().body()).as("the item").isNotEmpty();
      assertEngineShutdown(stream.readFrame().body());
      assertThat(stream.readFrame().body()).isEqualTo(Captured.END_MARK);
      assertThat(stream.readFrame().header()).asString().isEqualTo("\"sentinel\"");
      assertThat(await(level)).isEqualTo(Cancellation.Level.KILL);
    }
  }

  private static void assertEngineShutdown(byte[] frame) {
    var error = ResponseEnvelope.read(ByteBuffer.wrap(frame), PayloadFormat.MSGPACK).error();
    assertThat(error).isNotNull();
    if (error != null) {
      assertThat(error.code()).isEqualTo(ErrorCode.BACKEND_ENGINE_SHUTDOWN);
    }
  }

  @Test
  void aRefusalHasTheFormOfDynamosWorkers() throws Exception {
    var captured = Golden.frames("chat-error-unary.w2f.bin");
    var theirs = ResponseEnvelope.read(wrapped(captured.get(2)), PayloadFormat.MSGPACK).error();
    assertThat(theirs).isNotNull();
    if (theirs == null) {
      return;
    }
    var text = String.valueOf(theirs.publicMessage());
    served.close();
    served =
        plane.serve(
            (request, context) -> {
              throw new InvalidRequestException(text);
            });
    try (var requester = dial()) {
      requester.write(Captured.chat(home));
      assertThat(requester.readAck()).isEmpty();
    }
    var ours =
        new DynamoError(
            theirs.code(), theirs.errorClass(), theirs.reason(), text, text, text, null);
    try (var stream = RawPeer.accept(home)) {
      assertThat(stream.readFrame().header()).asString().contains(Captured.CHAT_SUBJECT);
      assertThat(stream.readFrame().header()).isEqualTo(captured.get(1).header());
      assertThat(stream.readFrame().body())
          .isEqualTo(ResponseEnvelope.ofError(ours, PayloadFormat.MSGPACK));
      assertThat(stream.readFrame().body()).isEqualTo(captured.get(3).body());
      assertThat(stream.readFrame().header()).isEqualTo(captured.get(4).header());
    }
    assertThat(ResponseEnvelope.ofError(theirs, PayloadFormat.MSGPACK))
        .as("their own error, as we write it")
        .isEqualTo(captured.get(2).body());
  }

  private static ByteBuffer wrapped(Golden.Frame frame) {
    return ByteBuffer.wrap(frame.body());
  }

  @Test
  void aFullWorkerRefusesACarriedRequestByAnItem() throws Exception {
    restart(new TestPlane(TestPlane.settings(PayloadFormat.MSGPACK, DYNAMO_MAX_BYTES, 1)));
    var endpoint = plane.server.endpoint(Captured.CHAT_PATH);
    assertThat(endpoint).isNotNull();
    if (endpoint == null) {
      return;
    }
    var frame = RequestFrame.read(Unpooled.wrappedBuffer(Captured.chat(home)), DYNAMO_MAX_BYTES);
    assertThat(frame).isNotNull();
    if (frame == null) {
      return;
    }
    assertThat(endpoint.receiveCarried(Map.of(), frame.payload())).isEmpty();
    try (var first = RawPeer.accept(home)) {
      first.readFrame();
      var running = next();
      assertThat(endpoint.receiveCarried(Map.of(), frame.payload())).isEmpty();
      try (var second = RawPeer.accept(home)) {
        second.readFrame();
        assertThat(second.readFrame().header()).asString().isEqualTo("{\"error\":null}");
        assertThat(errorIn(second.readFrame().body())).isEqualTo(ErrorCode.WORKER_OVERLOADED);
        assertThat(second.readFrame().body()).isEqualTo(Captured.END_MARK);
        assertThat(second.readFrame().header()).asString().isEqualTo("\"sentinel\"");
      }
      running.answer().complete();
    }
  }

  private static ErrorCode errorIn(byte[] item) {
    var error = ResponseEnvelope.read(ByteBuffer.wrap(item), PayloadFormat.MSGPACK).error();
    if (error == null) {
      throw new AssertionError("an item, not an error");
    }
    return error.code();
  }

  @Test
  void closingBetweenTheCallHomeAndThePrologueSaysSoInThePrologue() throws Exception {
    assertShutDownBeforeThePrologue(false);
  }

  @Test
  void aHandlerThatFailsBecauseOfTheCloseDoesNotHideIt() throws Exception {
    assertShutDownBeforeThePrologue(true);
  }

  /** The handler itself closes its endpoint: the call stands, the prologue is not out. */
  private void assertShutDownBeforeThePrologue(boolean handlerFails) throws Exception {
    served.close();
    var itself = new CompletableFuture<EndpointServer.Served>();
    var level = new CompletableFuture<Cancellation.Level>();
    served =
        plane.serve(
            (request, context) -> {
              context.cancellation().onCancel(level::complete);
              itself.join().close();
              if (handlerFails) {
                throw new CancelledException("stopped");
              }
              return new ItemStream<>(8, () -> {}, () -> {});
            });
    itself.complete(served);
    try (var requester = dial()) {
      requester.write(Captured.chat(home));
      assertThat(requester.readAck()).isEmpty();
    }
    try (var stream = RawPeer.accept(home)) {
      stream.readFrame();
      assertThat(Prologue.ofJson(stream.readFrame().header()).failure())
          .isInstanceOfSatisfying(
              WorkerLostException.class,
              lost -> assertThat(lost.code()).isEqualTo(ErrorCode.BACKEND_ENGINE_SHUTDOWN));
      assertThat(stream.readFrame().header()).asString().isEqualTo("\"sentinel\"");
    }
    assertThat(await(level)).isEqualTo(Cancellation.Level.KILL);
  }
}
