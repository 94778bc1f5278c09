package io.dynamo.request.tcp;

import static org.assertj.core.api.Assertions.assertThat;
import static org.junit.jupiter.api.Assumptions.assumeTrue;

import io.dynamo.concurrent.ItemStream;
import io.dynamo.config.plane.RequestPlane;
import io.dynamo.config.plane.TcpSettings;
import io.dynamo.config.plane.TlsSettings;
import io.dynamo.discovery.DiscoveryJson;
import io.dynamo.discovery.Instance;
import io.dynamo.discovery.InstanceId;
import io.dynamo.discovery.TransportAddress;
import io.dynamo.error.ErrorCode;
import io.dynamo.error.InvalidRequestException;
import io.dynamo.error.WorkerLostException;
import io.dynamo.event.Until;
import io.dynamo.inference.EngineOutput;
import io.dynamo.net.PayloadFormat;
import io.dynamo.request.RequestContext;
import io.dynamo.testing.Certificates;
import io.dynamo.testing.ClosedPort;
import io.dynamo.wire.AnyCodec;
import io.dynamo.wire.Golden;
import io.dynamo.wire.request.ResponseEnvelope;
import java.io.IOException;
import java.io.InputStream;
import java.io.UncheckedIOException;
import java.net.InetAddress;
import java.net.ServerSocket;
import java.net.Socket;
import java.nio.ByteBuffer;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.nio.file.Path;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.Flow;
import java.util.concurrent.TimeUnit;
import java.util.function.LongSupplier;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

/** The contract over HTTP/2, and another program's client. */
class Http2PlaneTest extends RequestPlaneContract {
  private final List<AutoCloseable> owned = new ArrayList<>();

  @TempDir private Path folder;

  @Override
  TestPlane open(TcpSettings settings, LongSupplier nanoTime) {
    return new TestPlane(settings, List.of(RequestPlane.HTTP2), null, nanoTime);
  }

  @AfterEach
  void closeOwned() throws Exception {
    for (var one : owned.reversed()) {
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

  private static Instance at(int port) {
    return new Instance(
        TestPlane.ENDPOINT,
        TestPlane.ID,
        new TransportAddress.Http2(
            false, "127.0.0.1:" + port, "/v1/rpc/" + TestPlane.ID.hex() + "/" + TestPlane.ENDPOINT),
        null,
        PayloadFormat.MSGPACK);
  }

  @Test
  void streamsShareAConnection() throws Exception {
    var served = serveByHand(8);
    var callers = new ArrayList<Collector<EngineOutput>>();
    for (int i = 0; i < 8; i++) {
      callers.add(Collector.all(plane.call(served)));
    }
    for (int i = 0; i < 8; i++) {
      next().answer().complete();
    }
    for (var caller : callers) {
      assertThat(caller.awaitCompletion()).isEmpty();
    }
    assertThat(plane.client.connections()).isEqualTo(1);
  }

  @Test
  void aConnectionThatIsCutLetsItsStreamsMigrate() throws Exception {
    var address = (TransportAddress.Http2) serveByHand(8).address();
    var cable = new Cable(port(address));
    owned.add(cable);
    var there = new TransportAddress.Http2(false, "127.0.0.1:" + cable.port(), address.path());
    var caller = Collector.all(plane.call(at(there), TestPlane.context()));
    next().answer().offer(EngineOutput.ofTokens(5));
    caller.awaitItems(1);
    cable.cut();
    assertThat(caller.awaitFailure())
        .isInstanceOfSatisfying(
            WorkerLostException.class,
            lost -> assertThat(lost.code()).isEqualTo(ErrorCode.DISCONNECTED));
  }

  private static int port(TransportAddress.Http2 address) {
    return Integer.parseInt(address.address().substring(address.address().indexOf(':') + 1));
  }

  private static Instance at(TransportAddress address) {
    return new Instance(TestPlane.ENDPOINT, TestPlane.ID, address, "cpu", PayloadFormat.MSGPACK);
  }

  /** A connection between two sockets that a test can cut. */
  private static final class Cable implements AutoCloseable {
    private final ServerSocket listener = new ServerSocket(0);
    private final List<Socket> ends = new ArrayList<>();

    Cable(int port) throws IOException {
      Thread.ofVirtual().start(() -> join(port));
    }

    private void join(int port) {
      try {
        var one = listener.accept();
        var other = new Socket(InetAddress.getLoopbackAddress(), port);
        synchronized (ends) {
          ends.add(one);
          ends.add(other);
        }
        Thread.ofVirtual().start(() -> pump(one, other));
        pump(other, one);
      } catch (IOException e) {
        throw new UncheckedIOException(e);
      }
    }

    private static void pump(Socket from, Socket to) {
      try {
        from.getInputStream().transferTo(to.getOutputStream());
      } catch (IOException _) {
        return; // cut
      }
    }

    int port() {
      return listener.getLocalPort();
    }

    void cut() throws IOException {
      synchronized (ends) {
        for (var end : ends) {
          end.close();
        }
      }
    }

    @Override
    public void close() throws IOException {
      cut();
      listener.close();
    }
  }

  @Test
  void aConnectionWhosePeerDoesNotAnswerIsNotUsedAgain() throws Exception {
    restart(TestPlane.impatient(Duration.ofMillis(50), Duration.ofSeconds(5)));
    assertThat(Collector.all(plane.call(silent(), TestPlane.context())).awaitFailure())
        .hasMessageContaining("has not acknowledged");
    Until.holds(() -> plane.client.http2Connections() == 0);
  }

  @Test
  void anInstanceOfSeveralPlanesIsCalledOnTheCallersFirst() throws Exception {
    plane.close();
    plane = onBoth(RequestPlane.TCP, RequestPlane.HTTP2);
    var served = serveByHand(8);
    var instance = plane.instance(served);
    var text = new String(DiscoveryJson.encode(instance), StandardCharsets.UTF_8);
    assertThat(text).contains("\"transport\":{\"tcp\":\"127.0.0.1:");
    assertThat(DiscoveryJson.decode(text.getBytes(StandardCharsets.UTF_8))).isEqualTo(instance);
    assertAnswered(instance);
    assertThat(plane.client.http2Connections()).isZero();

    try (var caller = onBoth(RequestPlane.HTTP2, RequestPlane.TCP)) {
      var answer = Collector.all(caller.call(instance, TestPlane.context()));
      next().answer().complete();
      assertThat(answer.awaitCompletion()).isEmpty();
      assertThat(caller.client.http2Connections()).isEqualTo(1);
    }
  }

  private static TestPlane onBoth(RequestPlane... planes) {
    return new TestPlane(
        TestPlane.settings(PayloadFormat.MSGPACK, 1 << 20, 8),
        List.of(planes),
        null,
        System::nanoTime);
  }

  private void assertAnswered(Instance instance) throws InterruptedException {
    var answer = Collector.all(plane.call(instance, TestPlane.context()));
    next().answer().complete();
    assertThat(answer.awaitCompletion()).isEmpty();
  }

  @Test
  void anInstanceWithoutACommonPlaneIsCalledWhereItListens() throws Exception {
    var served = serveByHand(8);
    var several =
        new TransportAddress.Several(
            List.of(TransportAddress.Nats.of(TestPlane.ENDPOINT, TestPlane.ID), served.address()));
    plane.client.instanceFound(at(several));
    try (var caller = onBoth(RequestPlane.TCP)) {
      var answer = Collector.all(caller.call(at(several), TestPlane.context()));
      next().answer().complete();
      assertThat(answer.awaitCompletion()).isEmpty();
      caller.client.instanceLost(at(several)); // forgets both addresses
    }
  }

  @Test
  void aRequestStreamArrivesByACallHomeAndItsAnswerOnTheStream() throws Exception {
    var codec = new AnyCodec();
    var answer = new ItemStream<Map<?, ?>>(8, () -> {}, () -> {});
    var heard = new CompletableFuture<Flow.Publisher<Map<?, ?>>>();
    var served =
        plane.server.<Map<?, ?>, Map<?, ?>>serveStreams(
            TestPlane.ENDPOINT,
            TestPlane.ID,
            (requests, context) -> {
              heard.complete(requests);
              return answer;
            },
            codec);
    var requests = new ItemStream<Map<?, ?>>(8, () -> {}, () -> {});
    requests.offer(Map.of("a", 1L));
    requests.complete();
    Flow.Publisher<Map<?, ?>> call =
        plane.client.exchange(plane.instance(served), requests, codec, TestPlane.context());
    var caller = Collector.<Map<?, ?>>all(call);
    var items = heard.get(TestPlane.PATIENCE.toSeconds(), TimeUnit.SECONDS);
    assertThat(Collector.<Map<?, ?>>all(items).awaitCompletion()).hasSize(1);
    answer.offer(Map.of("b", 2L));
    answer.complete();
    assertThat(caller.awaitCompletion()).isEqualTo(List.of(Map.of("b", 2L)));
  }

  @Test
  void aHeaderThatHttpDoesNotAllowIsTheRequestsFault() throws Exception {
    var served = serveByHand(8);
    var plain = TestPlane.context();
    var bad =
        new RequestContext(
            plain.id(),
            plain.metadata(),
            Map.of("x-request-id", "a\nb"),
            plain.deadline(),
            plain.cancellation());
    assertThat(Collector.all(plane.call(plane.instance(served), bad)).awaitFailure())
        .isInstanceOf(InvalidRequestException.class)
        .hasMessageContaining("a header cannot be sent");
  }

  @Test
  void aWorkerWithTlsIsNotReachedInTheClear() throws Exception {
    var secure = new TransportAddress.Http2(true, "127.0.0.1:1", "/v1/rpc/x");
    assertThat(Collector.all(plane.call(at(secure), TestPlane.context())).awaitFailure())
        .isInstanceOf(WorkerLostException.class)
        .hasMessageContaining("speaks TLS, this process does not");
  }

  @Test
  void requestsTravelOverTls() throws Exception {
    restart(secured());
    var served = serveByHand(8);
    assertThat(served.address().toString()).startsWith("https://127.0.0.1:");
    assertAnswered(plane.instance(served));
  }

  private TcpSettings secured() throws Exception {
    var certificates = new Certificates(folder, "ours");
    certificates.sign("plane", "ip:127.0.0.1");
    return TestPlane.secured(
        new TlsSettings(
            certificates.certificateFile("plane"),
            certificates.keyFile("plane"),
            certificates.authorityFile(),
            false,
            null,
            TestPlane.PATIENCE,
            null,
            null,
            null));
  }

  @Test
  void aRequestOfCurlIsAnsweredInTheClearAndOverTls() throws Exception {
    assumeTrue(curl("--version").contains("HTTP2"), "curl with HTTP/2 is not installed: left out");
    assertCurlIsAnswered();
    restart(secured());
    assertCurlIsAnswered();
  }

  private void assertCurlIsAnswered() throws Exception {
    var served = serveByHand(8);
    var chat = Golden.request("chat-stream").payload();
    var request = RequestFrame.ofPayload(chat.header(), chat.body()).payload();
    var body = Files.write(folder.resolve("request"), request);
    var heads = folder.resolve("heads");
    var url = served.address().toString();
    var curl =
        start(
            "--cacert",
            folder.resolve("ours.ca.pem").toString(),
            url.startsWith("https") ? "--http2" : "--http2-prior-knowledge",
            "--dump-header",
            heads.toString(),
            "--data-binary",
            "@" + body,
            url);
    var running = next();
    running.answer().offer(EngineOutput.ofTokens(7));
    running.answer().complete();
    var answer = ByteBuffer.wrap(bytes(curl));
    assertThat(Golden.frame(answer).header()).asString().isEqualTo("{\"error\":null}");
    var item =
        ResponseEnvelope.read(ByteBuffer.wrap(Golden.frame(answer).body()), PayloadFormat.MSGPACK)
            .item();
    assertThat(item).isNotNull();
    assertThat(Golden.frame(answer).body()).isEqualTo(Captured.END_MARK);
    assertThat(answer.hasRemaining()).isFalse();
    assertThat(Files.readString(heads)).contains("HTTP/2 200", "dynamo-end: complete");

    assertThat(curl("--http2-prior-knowledge", "--insecure", "--include", "--data", "x", url))
        .contains("dynamo-refusal: worker", "Read error");
    served.close();
  }

  private static String curl(String... arguments) throws Exception {
    return new String(bytes(start(arguments)), StandardCharsets.UTF_8);
  }

  private static Process start(String... arguments) throws IOException {
    var command = new ArrayList<>(List.of("curl", "--silent", "--max-time", "60"));
    command.addAll(List.of(arguments));
    return new ProcessBuilder(command).redirectErrorStream(false).start();
  }

  private static byte[] bytes(Process process) throws Exception {
    byte[] all;
    try (InputStream out = process.getInputStream()) {
      all = out.readAllBytes();
    }
    assertThat(process.waitFor(60, TimeUnit.SECONDS)).isTrue();
    return all;
  }

  @Test
  void anUnknownEndpointIsRefusedByTheWorkerItself() throws Exception {
    var served = (TransportAddress.Http2) serveByHand(8).address();
    var other =
        new TransportAddress.Http2(false, served.address(), "/v1/rpc/" + new InstanceId(1).hex());
    assertThat(Collector.all(plane.call(at(other), TestPlane.context())).awaitFailure())
        .isInstanceOfSatisfying(
            WorkerLostException.class,
            lost -> assertThat(lost.code()).isEqualTo(ErrorCode.WORKER_UNAVAILABLE));
  }
}
