package io.dynamo.request.tcp;

import static org.assertj.core.api.Assertions.assertThat;
import static org.junit.jupiter.api.Assumptions.assumeTrue;

import io.dynamo.concurrent.Cancellation;
import io.dynamo.concurrent.Deadline;
import io.dynamo.concurrent.ItemStream;
import io.dynamo.config.plane.TlsSettings;
import io.dynamo.discovery.DiscoveryEvent;
import io.dynamo.discovery.EndpointId;
import io.dynamo.discovery.Instance;
import io.dynamo.discovery.InstanceId;
import io.dynamo.discovery.file.FileDiscovery;
import io.dynamo.net.PayloadFormat;
import io.dynamo.testing.Certificates;
import io.dynamo.wire.AnyCodec;
import java.nio.file.Path;
import java.time.Duration;
import java.time.InstantSource;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.TimeUnit;
import java.util.stream.IntStream;
import org.junit.jupiter.api.BeforeAll;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.EnumSource;

/** Our plane and NVIDIA Dynamo's runtime itself: streams both ways, in the clear and under TLS. */
class PeerRuntimeTest {
  private static final AnyCodec CODEC = new AnyCodec();
  private static final Duration TTL = Duration.ofSeconds(10);
  private static final Duration PATIENCE = Duration.ofSeconds(40); // Python starts, beside others
  private static final InstanceId OURS = new InstanceId(7);

  /** How both sides guard what they say. */
  enum Guard {
    CLEAR,
    TLS,
    MUTUAL_TLS
  }

  @TempDir private static Path identities;
  private static Certificates certificates;

  @TempDir private Path folder;

  @BeforeAll
  static void needsThePeerAndCertificates() throws Exception {
    var peer = System.getProperty(PeerRuntime.PROPERTY, "skip");
    assumeTrue(!peer.isEmpty() && !peer.equals("skip"), "no environment with ai-dynamo");
    certificates = new Certificates(identities, "authority");
    certificates.sign("plane", "ip:127.0.0.1");
  }

  private record Guarded(TlsSettings ours, Map<String, String> theirs) {}

  private static Guarded guarded(Guard guard) {
    if (guard == Guard.CLEAR) {
      return new Guarded(TestPlane.CLEAR, Map.of());
    }
    var certificate = certificates.certificateFile("plane");
    var key = certificates.keyFile("plane");
    var authority = certificates.authorityFile();
    boolean mutual = guard == Guard.MUTUAL_TLS;
    var theirs =
        new HashMap<>(
            Map.of(
                "DYN_TCP_TLS_CERT_PATH", certificate.toString(),
                "DYN_TCP_TLS_KEY_PATH", key.toString(),
                "DYN_TCP_TLS_CA_CERT_PATH", authority.toString()));
    if (mutual) {
      theirs.put("DYN_TCP_TLS_CLIENT_CERT_PATH", certificate.toString());
      theirs.put("DYN_TCP_TLS_CLIENT_KEY_PATH", key.toString());
      theirs.put("DYN_TCP_TLS_CLIENT_CA_CERT_PATH", authority.toString());
    }
    return new Guarded(
        new TlsSettings(
            certificate,
            key,
            authority,
            false,
            null,
            Duration.ofSeconds(3),
            mutual ? certificate : null,
            mutual ? key : null,
            mutual ? authority : null),
        theirs);
  }

  private FileDiscovery discovery() {
    return new FileDiscovery(folder.resolve("discovery"), TTL, OURS, InstantSource.system());
  }

  /** Waits until the peer serves {@code endpoint}. */
  private static Instance find(FileDiscovery discovery, String endpoint) throws Exception {
    var wanted = new EndpointId("peer", "backend", endpoint);
    var found = new CompletableFuture<Instance>();
    try (var _ =
        discovery.watch(
            Instance.class,
            event -> {
              if (event instanceof DiscoveryEvent.Added<Instance>(var instance)
                  && instance.endpoint().equals(wanted)) {
                found.complete(instance);
              }
            })) {
      return found.get(PATIENCE.toMillis(), TimeUnit.MILLISECONDS);
    }
  }

  private static List<Map<?, ?>> numbers(int count) {
    return IntStream.range(0, count).<Map<?, ?>>mapToObj(i -> Map.of("number", (long) i)).toList();
  }

  @ParameterizedTest
  @EnumSource
  void itsWorkerAnswersOurClient(Guard guard) throws Exception {
    var guarded = guarded(guard);
    try (var plane = new TestPlane(TestPlane.secured(guarded.ours()));
        var discovery = discovery();
        var peer = PeerRuntime.start("plane_worker.py", folder, guarded.theirs())) {
      var counting = find(discovery, "count");
      var answer =
          Collector.all(
              plane.client.call(counting, Map.of("numbers", 500), CODEC, TestPlane.context()));
      assertThat(answer.awaitCompletion()).as(peer.said()).isEqualTo(numbers(500));

      var requests = new ItemStream<Map<?, ?>>(200, () -> {}, () -> {});
      for (int i = 0; i < 100; i++) {
        requests.offer(Map.of("question", i));
      }
      requests.complete();
      var exchanged =
          Collector.all(
              plane.client.exchange(
                  find(discovery, "exchange"), requests, CODEC, TestPlane.context()));
      var heard = exchanged.awaitCompletion();
      assertThat(heard).as(peer.said()).hasSize(101);
      assertThat(heard.getFirst()).hasToString("{echo={question=0}}");
      assertThat(heard.get(99)).hasToString("{echo={question=99}}");
      assertThat(heard.getLast()).hasToString("{total=100, stopped=false}");
    }
  }

  @Test
  void aStopReachesItsWorker() throws Exception {
    try (var plane = new TestPlane();
        var discovery = discovery();
        var peer = PeerRuntime.start("plane_worker.py", folder, Map.of())) {
      var cancellation = new Cancellation();
      var answer =
          Collector.all(
              plane.client.call(
                  find(discovery, "count"),
                  Map.of("numbers", 100_000, "pause", 0.01),
                  CODEC,
                  TestPlane.context(cancellation)));
      answer.awaitItems(3);
      cancellation.stop();
      answer.awaitEnd();
      long deadline = System.nanoTime() + PATIENCE.toNanos();
      while (!peer.said().contains("stopped")) {
        assertThat(System.nanoTime()).as(peer.said()).isLessThan(deadline);
        Thread.onSpinWait();
      }
    }
  }

  @ParameterizedTest
  @EnumSource
  void itsClientIsAnsweredByOurWorker(Guard guard) throws Exception {
    var guarded = guarded(guard);
    var endpoint = new EndpointId("ours", "backend", "count");
    try (var plane = new TestPlane(TestPlane.secured(guarded.ours()));
        var discovery = discovery()) {
      var served =
          plane.server.<Map<?, ?>, Map<?, ?>>serve(
              endpoint,
              OURS,
              (request, context) -> {
                int count = request.get("numbers") instanceof Number asked ? asked.intValue() : 0;
                var answer = new ItemStream<Map<?, ?>>(count, () -> {}, () -> {});
                numbers(count).forEach(answer::offer);
                answer.complete();
                return answer;
              },
              CODEC);
      var instance = new Instance(endpoint, OURS, served.address(), "cpu", PayloadFormat.MSGPACK);
      try (var _ = discovery.register(instance);
          var peer = PeerRuntime.start("plane_client.py", folder, guarded.theirs(), "500")) {
        assertThat(peer.lines()).hasSize(501).startsWith("{\"number\": 0}").endsWith("end");
      }
      assertThat(served.drain(Deadline.after(TestPlane.PATIENCE))).isTrue();
    }
  }

  @Test
  void aPeerInTheClearIsToldThatOursIsNot() throws Exception {
    var guarded = guarded(Guard.TLS);
    try (var plane = new TestPlane(TestPlane.secured(guarded.ours()));
        var discovery = discovery();
        var peer = PeerRuntime.start("plane_worker.py", folder, Map.of())) {
      var answer =
          Collector.all(
              plane.client.call(
                  find(discovery, "count"), Map.of("numbers", 3), CODEC, TestPlane.context()));
      assertThat(answer.awaitFailure()).as(peer.said()).hasMessageContaining("TLS");
    }
  }
}
