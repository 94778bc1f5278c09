package io.dynamo.request.tcp;

import static org.assertj.core.api.Assertions.assertThat;

import io.dynamo.concurrent.Cancellation;
import io.dynamo.concurrent.Deadline;
import io.dynamo.config.plane.TcpTimeouts;
import io.dynamo.error.DeadlineExceededException;
import io.dynamo.error.InvalidRequestException;
import io.dynamo.metrics.Metrics;
import io.dynamo.net.PayloadFormat;
import io.dynamo.pipeline.ReceivedStream;
import io.dynamo.pipeline.StreamSignal;
import io.dynamo.request.EndpointServer;
import io.dynamo.request.RequestContext;
import io.dynamo.request.tcp.silence.SilenceRules;
import io.dynamo.testing.ClosedPort;
import io.dynamo.wire.Golden;
import io.dynamo.wire.request.DynamoError;
import io.dynamo.wire.request.Prologue;
import io.dynamo.wire.request.ResponseEnvelope;
import java.io.IOException;
import java.net.ServerSocket;
import java.nio.ByteBuffer;
import java.nio.charset.StandardCharsets;
import java.time.Duration;
import java.util.Map;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.atomic.AtomicInteger;
import java.util.concurrent.locks.LockSupport;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;

/** Every wait ends, and every refusal is reported, even if the other side does nothing. */
class TcpDeadlineTest {
  private static final Duration SHORT = Duration.ofMillis(200);
  private static final Duration LONG = Duration.ofSeconds(20);

  private TestPlane plane = new TestPlane();

  @AfterEach
  void closePlane() {
    plane.awaitNothingLeft();
    plane.close();
  }

  private void restart(TcpTimeouts timeouts) {
    restart(new TestPlane(TestPlane.patient(timeouts)));
  }

  private void restart(TestPlane with) {
    plane.close();
    plane = with;
  }

  private Metrics.Counter errors(String step) {
    return TestPlane.errors(plane.metrics, step);
  }

  private static RawPeer dial(EndpointServer.Served served) throws IOException {
    return RawPeer.dial(TestPlane.tcpAddress(served));
  }

  // the worker's waits

  @Test
  void aFrozenRequesterLosesItsRequestAndFreesTheEngine() throws Exception {
    restart(new TcpTimeouts(LONG, LONG, LONG, LONG, Duration.ZERO, SHORT));
    var level = new CompletableFuture<Cancellation.Level>();
    var produced = new AtomicInteger();
    var served =
        plane.serve(
            (request, context) -> {
              context.cancellation().onCancel(level::complete);
              return new Endless(produced);
            });
    try (var home = RawPeer.listen();
        var requester = dial(served)) {
      requester.write(Captured.chat(home));
      assertThat(requester.readAck()).isEmpty();
      try (var frozen = RawPeer.accept(home)) {
        assertThat(level.get(TestPlane.PATIENCE.toMillis(), TimeUnit.MILLISECONDS))
            .isEqualTo(Cancellation.Level.KILL);
        assertThat(served.drain(Deadline.after(TestPlane.PATIENCE))).isTrue();
        TestPlane.awaitCount(errors("publish_response"), 1);
        frozen.awaitGone();
      }
    }
  }

  @Test
  void aRequesterThatReadsNowAndThenIsSlowAndNotFrozen() throws Exception {
    var limit = Duration.ofSeconds(4);
    restart(new TcpTimeouts(LONG, LONG, LONG, LONG, Duration.ZERO, limit));
    var produced = new AtomicInteger();
    var served = plane.serve((request, context) -> new Endless(produced));
    try (var home = RawPeer.listen();
        var requester = dial(served)) {
      requester.write(Captured.chat(home));
      assertThat(requester.readAck()).isEmpty();
      try (var slow = RawPeer.accept(home)) {
        long begun = System.nanoTime();
        while (System.nanoTime() - begun < 2 * limit.toNanos()) {
          Endless.awaitStandstill(produced);
          slow.read(2 << 20);
        }
        assertThat(errors("publish_response").value()).isZero();
      }
    }
    assertThat(served.drain(Deadline.after(TestPlane.PATIENCE))).isTrue();
  }

  @Test
  void aRequesterThatCannotBeReachedIsCounted() throws Exception {
    var served = plane.serve((request, context) -> new Endless(new AtomicInteger()));
    try (var home = new ClosedPort();
        var requester = dial(served)) {
      requester.write(Captured.chat(home.number()));
      assertThat(requester.readAck()).isEmpty();
      assertThat(served.drain(Deadline.after(TestPlane.PATIENCE))).isTrue();
    }
    TestPlane.awaitCount(errors("response_stream"), 1);
  }

  @ParameterizedTest
  @ValueSource(strings = {"foreign context", "unknown codec", "no request type"})
  void aControlMessageThatNamesAHomeIsRefusedThere(String kind) throws Exception {
    var served = plane.serve((request, context) -> new Endless(new AtomicInteger()));
    try (var home = RawPeer.listen();
        var requester = dial(served)) {
      requester.write(replaced(home, kind));
      assertThat(requester.readAck()).isEmpty();
      assertRefusedAtHome(home);
    }
    TestPlane.awaitCount(errors("invalid_message"), 1);
  }

  private static byte[] replaced(ServerSocket home, String kind) {
    var whole = new String(Captured.chat(home), StandardCharsets.ISO_8859_1);
    var changed =
        switch (kind) {
          case "foreign context" -> whole.replaceFirst("\"id\":\"....", "\"id\":\"0000");
          case "unknown codec" -> whole.replace("\"msgpack\"", "\"msgpuck\"");
          default -> whole.replace("\"request_type\"", "\"request_tyqe\"");
        };
    assertThat(changed).isNotEqualTo(whole).hasSameSizeAs(whole);
    return changed.getBytes(StandardCharsets.ISO_8859_1);
  }

  private static void assertRefusedAtHome(ServerSocket home) throws IOException {
    try (var stream = RawPeer.accept(home)) {
      assertThat(stream.readFrame().header()).asString().contains(Captured.CHAT_SUBJECT);
      assertThat(Prologue.ofJson(stream.readFrame().header()).failure())
          .isInstanceOf(InvalidRequestException.class);
      assertThat(stream.readFrame().header()).asString().isEqualTo("\"sentinel\"");
    }
  }

  @Test
  void aPayloadThatIsNoneIsRefusedInAnItem() throws Exception {
    var served = plane.serve((request, context) -> new Endless(new AtomicInteger()));
    var chat = Golden.request("chat-stream");
    try (var home = RawPeer.listen();
        var requester = dial(served)) {
      var broken =
          new Golden.Request(
              chat.path(),
              chat.headers(),
              new Golden.Frame(chat.payload().header(), new byte[] {(byte) 0xc1, 1}));
      requester.write(Captured.patched(broken, Captured.CHAT_PATH, home));
      assertThat(requester.readAck()).isEmpty();
      try (var stream = RawPeer.accept(home)) {
        stream.readFrame();
        assertThat(Prologue.ofJson(stream.readFrame().header()).failure()).isNull();
        var item = ByteBuffer.wrap(stream.readFrame().body());
        assertThat(ResponseEnvelope.read(item, PayloadFormat.MSGPACK).error())
            .extracting(DynamoError::toException)
            .isInstanceOf(InvalidRequestException.class);
        assertThat(stream.readFrame().body()).isEqualTo(Captured.END_MARK);
        assertThat(stream.readFrame().header()).asString().isEqualTo("\"sentinel\"");
      }
    }
    assertThat(served.drain(Deadline.after(TestPlane.PATIENCE))).isTrue();
  }

  @Test
  void aFrameThatDripsIsCutOffAtItsDeadline() throws Exception {
    restart(TestPlane.impatientPlane(SHORT));
    var served = plane.serve((request, context) -> new Endless(new AtomicInteger()));
    try (var home = RawPeer.listen();
        var requester = dial(served)) {
      var chat = Captured.chat(home);
      long patience = System.nanoTime() + TestPlane.PATIENCE.toNanos();
      int sent = 0;
      boolean cut = false;
      while (!cut) { // far more bytes than the time allows, were it counted from the last one
        assertThat(System.nanoTime() - patience).isNegative();
        try {
          requester.write(new byte[] {chat[Math.min(sent++, chat.length - 2)]});
        } catch (IOException e) {
          cut = true;
        }
        LockSupport.parkNanos(2_000_000);
      }
    }
  }

  // the requester's waits

  /** A worker that hears of the kill at once, and cuts its stream while it is being said. */
  private record Prompt(TcpCall<?, ?> call) implements ReceivedStream {
    @Override
    public void signal(StreamSignal signal) {
      call.broken(null);
    }

    @Override
    public void resume() {}

    @Override
    public int reads() {
      return 0;
    }

    @Override
    public int items() {
      return 0;
    }

    @Override
    public boolean isPaused() {
      return false;
    }

    @Override
    public void close() {}
  }

  @Test
  void aWorkersReactionToAStopIsNotReportedAsTheCause() throws Exception {
    try (var worker = RawPeer.listen()) {
      var context =
          new RequestContext("r", Map.of(), Map.of(), Deadline.after(SHORT), new Cancellation());
      var call =
          new TcpCall<>(
              plane.client,
              WorkerAtHome.at(worker),
              RequestInput.whole(TestPlane.request(), TestPlane.CODEC),
              TestPlane.CODEC,
              context,
              SilenceRules.of(plane.settings.silence()));
      var caller = Collector.all(call);
      call.connected(new Prompt(call));
      call.prologue(Prologue.accepted());
      assertThat(caller.awaitFailure()).isInstanceOf(DeadlineExceededException.class);
    }
  }
}
