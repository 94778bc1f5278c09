package io.dynamo.request.tcp;

import static java.nio.charset.StandardCharsets.UTF_8;
import static org.assertj.core.api.Assertions.assertThat;

import io.dynamo.concurrent.Cancellation;
import io.dynamo.concurrent.Deadline;
import io.dynamo.concurrent.ItemStream;
import io.dynamo.discovery.Instance;
import io.dynamo.discovery.TransportAddress;
import io.dynamo.error.CancelledException;
import io.dynamo.error.InvalidRequestException;
import io.dynamo.event.Until;
import io.dynamo.inference.EngineOutput;
import io.dynamo.net.PayloadFormat;
import io.dynamo.request.EndpointServer;
import io.dynamo.request.RequestContext;
import io.dynamo.testing.CountingStream;
import io.dynamo.wire.AnyCodec;
import io.dynamo.wire.Golden;
import java.io.IOException;
import java.net.ServerSocket;
import java.util.List;
import java.util.Map;
import java.util.concurrent.ArrayBlockingQueue;
import java.util.concurrent.BlockingQueue;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.Flow;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.atomic.AtomicInteger;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.Test;

/** Requests that are streams: both sides against captures on plain sockets, and each other. */
class TcpBidirectionalTest {
  private static final AnyCodec CODEC = new AnyCodec();
  private static final String PATH = Captured.CHAT_PATH;
  private static final Golden.Request CAPTURED = Golden.request("bidirectional");
  private static final byte[] ITEMS = bytes("bidirectional-request-socket.f2w.bin");

  private record OpenCall(Flow.Publisher<Map<?, ?>> requests, RequestContext context) {}

  private final TestPlane plane = new TestPlane();
  private final BlockingQueue<OpenCall> heard = new ArrayBlockingQueue<>(16);
  private final ItemStream<Map<?, ?>> answer = new ItemStream<>(8, () -> {}, () -> {});

  @AfterEach
  void closePlane() {
    plane.close();
  }

  private static byte[] bytes(String name) {
    return Golden.bytes("response-stream/" + name);
  }

  /** Serves with the one answer that the test feeds. */
  private EndpointServer.Served serve() {
    return plane.server.<Map<?, ?>, Map<?, ?>>serveStreams(
        TestPlane.ENDPOINT,
        TestPlane.ID,
        (requests, context) -> {
          heard.add(new OpenCall(requests, context));
          return answer;
        },
        CODEC);
  }

  private OpenCall next() throws InterruptedException {
    var next = heard.poll(TestPlane.PATIENCE.toMillis(), TimeUnit.MILLISECONDS);
    if (next == null) {
      throw new AssertionError("the request does not reach the handler");
    }
    return next;
  }

  private Flow.Publisher<Map<?, ?>> exchange(
      EndpointServer.Served served, Flow.Publisher<Map<?, ?>> requests, Cancellation cancellation) {
    return plane.client.exchange(
        plane.instance(served), requests, CODEC, TestPlane.context(cancellation));
  }

  private static ItemStream<Map<?, ?>> open() {
    return new ItemStream<>(8, () -> {}, () -> {});
  }

  // the worker, against a requester on plain sockets

  /** The requester's connections once the worker has called twice. */
  private record ConnectedCall(RawPeer requester, RawPeer input, RawPeer response)
      implements AutoCloseable {
    @Override
    public void close() throws IOException {
      requester.close();
      input.close();
      response.close();
    }
  }

  private static ConnectedCall ask(EndpointServer.Served served, ServerSocket home)
      throws Exception {
    var requester = RawPeer.dial(((TransportAddress.Tcp) served.address()).address());
    requester.write(Captured.patched(CAPTURED, PATH, home));
    assertThat(requester.readAck()).isEmpty();
    var input = RawPeer.accept(home);
    assertThat(input.readAll())
        .as("the handshake, and the end of the worker's side")
        .isEqualTo(bytes("bidirectional-request-socket.w2f.bin"));
    return new ConnectedCall(requester, input, RawPeer.accept(home));
  }

  @Test
  void theCapturedExchangeIsServedByteForByte() throws Exception {
    var served = serve();
    try (var home = RawPeer.listen();
        var called = ask(served, home)) {
      called.input().write(ITEMS);
      var items = Collector.all(next().requests()).awaitCompletion();
      assertThat(items).hasSize(3);
      for (var item : items) {
        answer.offer(Map.of("echo", item));
      }
      answer.offer(Map.of("total", items.size()));
      answer.complete();
      var expected = bytes("bidirectional-response-socket.w2f.bin");
      assertThat(called.response().read(expected.length)).isEqualTo(expected);
      called.response().finish();
      called.response().awaitEnd();
    }
    assertThat(served.drain(Deadline.after(TestPlane.PATIENCE))).isTrue();
  }

  @Test
  void anInputThatIsCutEndsTheRequestWithATypedError() throws Exception {
    var served = serve();
    try (var home = RawPeer.listen();
        var called = ask(served, home)) {
      called.input().write(Golden.until(ITEMS, ITEMS.length - 34)); // all but the sentinel
      var handled = next();
      var items = Collector.of(handled.requests(), 0);
      called.response().readFrame();
      assertThat(called.response().readFrame().header()).asString().isEqualTo("{\"error\":null}");
      called.input().finish();
      assertThat(items.awaitFailure()).isInstanceOf(InvalidRequestException.class);
      assertThat(called.response().readFrame().body()).asString().contains("cut before");
      assertThat(called.response().readFrame().body()).isEqualTo(Captured.END_MARK);
      var level = new CompletableFuture<Cancellation.Level>(); // raised once the error is delivered
      handled.context().cancellation().onCancel(level::complete);
      assertThat(level.get(TestPlane.PATIENCE.toMillis(), TimeUnit.MILLISECONDS))
          .isEqualTo(Cancellation.Level.KILL);
    }
    assertThat(served.drain(Deadline.after(TestPlane.PATIENCE))).isTrue();
  }

  @Test
  void aStopOnTheInputStopsTheRequestAndEndsTheInput() throws Exception {
    var served = serve();
    try (var home = RawPeer.listen();
        var called = ask(served, home)) {
      var handled = next();
      called.input().write(RawPeer.frame("\"stop\"", new byte[0]));
      assertThat(Collector.all(handled.requests()).awaitCompletion()).isEmpty();
      Until.holds(() -> handled.context().cancellation().level() == Cancellation.Level.STOP);
      answer.complete();
      called.response().readFrame();
      called.response().readFrame();
      assertThat(called.response().readFrame().body()).isEqualTo(Captured.END_MARK);
    }
    assertThat(served.drain(Deadline.after(TestPlane.PATIENCE))).isTrue();
  }

  @Test
  void aKillOnTheInputAbandonsTheRequest() throws Exception {
    var served = serve();
    try (var home = RawPeer.listen();
        var called = ask(served, home)) {
      var items = Collector.all(next().requests());
      called.input().write(RawPeer.frame("\"kill\"", new byte[0]));
      assertThat(items.awaitFailure()).isInstanceOf(CancelledException.class);
    }
    assertThat(served.drain(Deadline.after(TestPlane.PATIENCE))).isTrue();
  }

  @Test
  void anItemThatIsNoneEndsTheRequest() throws Exception {
    var served = serve();
    try (var home = RawPeer.listen();
        var called = ask(served, home)) {
      var items = Collector.all(next().requests());
      called.input().write(RawPeer.frame("", new byte[] {(byte) 0xc1}));
      assertThat(items.awaitFailure()).isInstanceOf(InvalidRequestException.class);
    }
    assertThat(served.drain(Deadline.after(TestPlane.PATIENCE))).isTrue();
  }

  // the requester, against a worker on plain sockets

  private static Instance at(ServerSocket worker) {
    return new Instance(
        TestPlane.ENDPOINT,
        TestPlane.ID,
        new TransportAddress.Tcp("127.0.0.1:" + worker.getLocalPort(), PATH),
        null,
        PayloadFormat.MSGPACK);
  }

  private static String control(Golden.Request request) {
    return new String(request.payload().header(), UTF_8);
  }

  /** The control message without what differs from request to request. */
  private static String shape(String control) {
    return control
        .replaceAll("[0-9a-f]{8}(-[0-9a-f]{4}){3}-[0-9a-f]{12}", "uuid")
        .replaceAll("[0-9.]+:[0-9]+", "address")
        .replace(",\"metadata\":{\"tenant\":\"blue\"}", "");
  }

  private static String inputSubject(Golden.Request request) {
    var control = control(request);
    var info = control.substring(control.indexOf("request_stream_connection_info"));
    return info.replaceFirst(".*?\\\\\"subject\\\\\":\\\\\"([^\\\\]+).*", "$1");
  }

  private static byte[] inputHandshake(String subject) {
    return RawPeer.frame(
        "{\"subject\":\"%s\",\"stream_type\":\"request\"}".formatted(subject), new byte[0]);
  }

  @Test
  void theCapturedExchangeIsAskedByteForByte() throws Exception {
    var requests = open();
    try (var listener = RawPeer.listen()) {
      var caller =
          Collector.all(plane.client.exchange(at(listener), requests, CODEC, TestPlane.context()));
      try (var worker = RawPeer.accept(listener)) {
        var request = worker.readRequest();
        assertThat(shape(control(request))).isEqualTo(shape(control(CAPTURED)));
        assertThat(request.payload().body()).isEmpty();
        worker.write(new byte[4]);
        try (var input = RawPeer.dial(Captured.home(request));
            var response = RawPeer.dial(Captured.home(request))) {
          input.write(inputHandshake(inputSubject(request)));
          input.finish();
          for (int i = 0; i < 3; i++) {
            requests.offer(Map.of("i", i));
          }
          requests.complete();
          assertThat(input.readAll()).isEqualTo(ITEMS);
          response.write(
              Captured.answer("bidirectional-response-socket.w2f.bin", Captured.subject(request)));
          assertThat(caller.awaitCompletion()).hasSize(4);
        }
      }
    }
    plane.awaitNothingLeft();
  }

  @Test
  void aKilledCallKillsBothSocketsAndItsInput() throws Exception {
    var cancellation = new Cancellation();
    var given = new AtomicInteger();
    var requests = new ItemStream<Map<?, ?>>(8, () -> {}, given::incrementAndGet);
    try (var listener = RawPeer.listen()) {
      var caller =
          Collector.all(
              plane.client.exchange(
                  at(listener), requests, CODEC, TestPlane.context(cancellation)));
      try (var worker = RawPeer.accept(listener)) {
        var request = worker.readRequest();
        worker.write(new byte[4]);
        try (var input = RawPeer.dial(Captured.home(request));
            var response = RawPeer.dial(Captured.home(request))) {
          input.write(inputHandshake(inputSubject(request)));
          input.finish();
          requests.offer(Map.of("i", 0));
          assertThat(input.readFrame().body()).isNotEmpty();
          response.write(Captured.handshake(Captured.subject(request)));
          awaitCalledHome();
          cancellation.kill();
          assertThat(caller.awaitFailure()).isInstanceOf(CancelledException.class);
          assertThat(input.readFrame().header()).asString().isEqualTo("\"kill\"");
          input.awaitEnd();
          assertThat(response.readFrame().header()).asString().isEqualTo("\"kill\"");
          response.awaitGone();
        }
      }
    }
    Until.holds(() -> given.get() == 1);
    plane.awaitNothingLeft();
  }

  /** Both sockets are known to the client: who calls later is only reset. */
  private void awaitCalledHome() {
    long limit = System.nanoTime() + TestPlane.PATIENCE.toNanos();
    while (plane.client.callHome.waiting() > 0) {
      assertThat(System.nanoTime()).as("called home in time").isLessThan(limit);
      Thread.onSpinWait();
    }
  }

  // ours against ours

  @Test
  void aStreamIsEchoedWhileItIsSent() throws Exception {
    var served = serve();
    var requests = open();
    var caller = Collector.all(exchange(served, requests, new Cancellation()));
    var input = Collector.all(next().requests());
    for (int i = 1; i <= 3; i++) {
      requests.offer(Map.of("i", i));
      input.awaitItems(i);
      answer.offer(Map.of("echo", i));
      caller.awaitItems(i);
    }
    requests.complete();
    assertThat(input.awaitCompletion()).hasSize(3);
    answer.complete();
    assertThat(caller.awaitCompletion()).hasSize(3);
  }

  @Test
  void aWorkerThatDoesNotReadHoldsTheRequesterBack() throws Exception {
    var served = serve();
    var made = new AtomicInteger();
    var blob = new byte[64 * 1024];
    Flow.Publisher<Map<?, ?>> requests =
        CountingStream.of(
            2_000, // 125 MiB, far beyond what sockets hold
            i -> {
              made.incrementAndGet();
              return Map.of("blob", blob);
            });
    var caller = Collector.all(exchange(served, requests, new Cancellation()));
    var input = Collector.of(next().requests(), 1);
    input.awaitItems(1);
    answer.complete();
    caller.awaitCompletion();
    assertThat(input.awaitFailure()).isInstanceOf(CancelledException.class);
    assertThat(made.get()).isBetween(1, 1_999);
  }

  @Test
  void aHandlerThatCancelsItsInputAnswersAllTheSame() throws Exception {
    var served = serve();
    var caller = Collector.all(exchange(served, open(), new Cancellation()));
    Collector.of(next().requests(), 0).cancel();
    answer.offer(Map.of("enough", true));
    answer.complete();
    assertThat(caller.awaitCompletion()).hasSize(1);
  }

  @Test
  void anInputThatFailsEndsTheCallAndTheRequest() throws Exception {
    var served = serve();
    var requests = open();
    var caller = Collector.all(exchange(served, requests, new Cancellation()));
    var input = Collector.all(next().requests());
    requests.fail(new InvalidRequestException("no more paper"));
    assertThat(caller.awaitFailure()).hasMessageContaining("no more paper");
    assertThat(input.awaitFailure()).isInstanceOf(CancelledException.class);
    assertThat(served.drain(Deadline.after(TestPlane.PATIENCE))).isTrue();
  }

  @Test
  void aRequestOfTheOtherShapeIsRefusedWithATypedError() throws Exception {
    var streams = serve();
    var whole =
        Collector.all(
            plane.client.<Map<?, ?>, Map<?, ?>>call(
                plane.instance(streams), Map.of("a", 1), CODEC, TestPlane.context()));
    assertThat(whole.awaitFailure())
        .isInstanceOf(InvalidRequestException.class)
        .hasMessageContaining("many_in");
    streams.close();
    var single = plane.serve((request, context) -> never());
    var many = Collector.all(exchange(single, open(), new Cancellation()));
    assertThat(many.awaitFailure())
        .isInstanceOf(InvalidRequestException.class)
        .hasMessageContaining("many_in");
    assertThat(List.copyOf(heard)).isEmpty();
  }

  private static Flow.Publisher<EngineOutput> never() {
    throw new AssertionError("the handler is not asked");
  }
}
