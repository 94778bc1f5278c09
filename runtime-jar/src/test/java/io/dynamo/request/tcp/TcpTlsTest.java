package io.dynamo.request.tcp;

import static java.nio.file.StandardCopyOption.REPLACE_EXISTING;
import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import io.dynamo.concurrent.Deadline;
import io.dynamo.concurrent.ItemStream;
import io.dynamo.config.plane.TlsSettings;
import io.dynamo.discovery.EndpointId;
import io.dynamo.discovery.Instance;
import io.dynamo.error.Migratable;
import io.dynamo.event.Until;
import io.dynamo.inference.EngineOutput;
import io.dynamo.metrics.Metrics;
import io.dynamo.net.PayloadFormat;
import io.dynamo.request.EndpointServer;
import io.dynamo.testing.Certificates;
import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.time.Duration;
import java.util.concurrent.atomic.AtomicInteger;
import org.jspecify.annotations.Nullable;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeAll;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;

/** Both kinds of connection under TLS; the requester and the worker have settings of their own. */
class TcpTlsTest {
  private static final Duration HANDSHAKE = Duration.ofSeconds(20);

  @TempDir private static Path folder;
  private static Certificates ours;
  private static Certificates foreign;

  private final Metrics metrics = new Metrics();
  private @Nullable TcpEndpointClient client;
  private @Nullable TcpEndpointServer server;

  @BeforeAll
  static void makeCertificates() throws Exception {
    ours = new Certificates(folder, "ours");
    foreign = new Certificates(folder, "foreign");
    ours.sign("plane", "ip:127.0.0.1");
    ours.sign("named", "dns:plane.test");
    foreign.sign("stranger", "ip:127.0.0.1");
  }

  @AfterEach
  void closeBoth() {
    if (client != null) {
      client.close();
    }
    if (server != null) {
      server.close();
    }
  }

  /** One certificate for listeners, one authority for who connects. */
  private static TlsSettings tls(String certificate, Certificates trusted) {
    return new TlsSettings(
        certificateOf(certificate),
        keyOf(certificate),
        trusted.authorityFile(),
        false,
        null,
        HANDSHAKE,
        null,
        null,
        null);
  }

  private static Path certificateOf(String name) {
    return ours.certificateFile(name);
  }

  private static Path keyOf(String name) {
    return ours.keyFile(name);
  }

  private static TlsSettings mutual(@Nullable String clientCertificate) {
    return new TlsSettings(
        certificateOf("plane"),
        keyOf("plane"),
        ours.authorityFile(),
        false,
        null,
        HANDSHAKE,
        clientCertificate == null ? null : certificateOf(clientCertificate),
        clientCertificate == null ? null : keyOf(clientCertificate),
        ours.authorityFile());
  }

  private EndpointServer.Served start(TlsSettings requester, TlsSettings worker) {
    client = new TcpEndpointClient(TestPlane.secured(requester), TestPlane.LOOPS, metrics);
    server = new TcpEndpointServer(TestPlane.secured(worker), TestPlane.LOOPS, metrics);
    return server.serve(
        TestPlane.ENDPOINT,
        TestPlane.ID,
        (request, context) -> {
          var answer = new ItemStream<EngineOutput>(8, () -> {}, () -> {});
          answer.offer(EngineOutput.ofTokens(1));
          answer.offer(EngineOutput.ofTokens(2, 3));
          answer.complete();
          return answer;
        },
        TestPlane.CODEC);
  }

  private Collector<EngineOutput> call(EndpointServer.Served served) {
    if (client == null) {
      throw new AssertionError("not started");
    }
    var instance =
        new Instance(
            TestPlane.ENDPOINT, TestPlane.ID, served.address(), "cpu", PayloadFormat.MSGPACK);
    return Collector.all(
        client.call(instance, TestPlane.request(), TestPlane.CODEC, TestPlane.context()));
  }

  private void assertServed(TlsSettings requester, TlsSettings worker) throws Exception {
    assertThat(call(start(requester, worker)).awaitCompletion()).hasSize(2);
  }

  /** Fails by what TLS says, not by a limit of the plane. */
  private void assertRefused(TlsSettings requester, TlsSettings worker) throws Exception {
    var served = start(requester, worker);
    assertThat(call(served).awaitFailure())
        .isInstanceOf(Migratable.class)
        .message()
        .doesNotContain("has not acknowledged", "did not call", "did not begin", "timed out");
  }

  @Test
  void bothKindsOfConnectionAreEncrypted() throws Exception {
    var settings = tls("plane", ours);
    var served = start(settings, settings);
    for (int i = 0; i < 3; i++) {
      assertThat(call(served).awaitCompletion()).hasSize(2);
    }
    assertSpeaksTls(TestPlane.tcpAddress(served));
    if (client != null) {
      assertSpeaksTls(client.callHomeAddress);
    }
  }

  /** A peer in the clear gets a TLS alert, or nothing, and the end of the connection. */
  private static void assertSpeaksTls(String address) throws IOException {
    try (var plain = RawPeer.dial(address)) {
      plain.write(Captured.CHAT);
      plain.awaitGone();
    }
  }

  @Test
  void connectionsWithoutHandshakeAreClosedByBothServers() throws Exception {
    var settings =
        new TlsSettings(
            certificateOf("plane"),
            keyOf("plane"),
            ours.authorityFile(),
            false,
            null,
            Duration.ofSeconds(10), // the handshakes of the last call, too, on a busy machine
            null,
            null,
            null);
    var served = start(settings, settings);
    if (client == null) {
      throw new AssertionError("not started");
    }
    var worker = TestPlane.tcpAddress(served);
    var home = client.callHomeAddress;
    try (var silent = RawPeer.dial(worker);
        var halting = RawPeer.dial(worker);
        var silentHome = RawPeer.dial(home);
        var haltingHome = RawPeer.dial(home)) {
      halting.write(new byte[] {0x16, 3, 1});
      haltingHome.write(new byte[] {0x16, 3, 1});
      for (var peer : new RawPeer[] {silent, halting, silentHome, haltingHome}) {
        peer.awaitGone();
      }
    }
    assertThat(call(served).awaitCompletion()).hasSize(2);
  }

  @Test
  void aLargeAnswerArrivesWhole() throws Exception {
    var settings = tls("plane", ours);
    start(settings, settings);
    if (server == null || client == null) {
      throw new AssertionError("not started");
    }
    var produced = new AtomicInteger();
    var endless =
        server.serve(
            new EndpointId("dynamo", "backend", "endless"),
            TestPlane.ID,
            (request, context) -> new Endless(produced),
            TestPlane.CODEC);
    var caller = call(endless);
    caller.awaitItems(20_000);
    caller.cancel();
    int expected = 0;
    for (var item : caller.items()) {
      assertThat(item.tokenIds()[0]).isEqualTo(expected++);
    }
    assertThat(endless.drain(Deadline.after(TestPlane.PATIENCE))).isTrue();
  }

  @Test
  void aCertificateOfAnotherAuthorityIsRefused() throws Exception {
    assertRefused(tls("plane", foreign), tls("plane", ours));
  }

  @Test
  void aCertificateForAnotherAddressIsRefused() throws Exception {
    assertRefused(tls("plane", ours), tls("named", ours));
  }

  @Test
  void aServerNameStandsForTheAddress() throws Exception {
    var named =
        new TlsSettings(
            certificateOf("named"),
            keyOf("named"),
            ours.authorityFile(),
            false,
            "plane.test",
            HANDSHAKE,
            null,
            null,
            null);
    assertServed(named, named);
  }

  @Test
  void theInsecureModeTakesAnyCertificate() throws Exception {
    var insecure =
        new TlsSettings(
            foreign.certificateFile("stranger"),
            foreign.keyFile("stranger"),
            null,
            true,
            null,
            HANDSHAKE,
            null,
            null,
            null);
    assertServed(insecure, insecure);
  }

  @Test
  void withMutualTlsBothSidesShowACertificate() throws Exception {
    assertServed(mutual("named"), mutual("plane"));
  }

  @Test
  void peerWithoutTheRequiredCertificateIsRefused() throws Exception {
    assertRefused(tls("plane", ours), mutual("plane"));
  }

  @Test
  void aCertificateOfAnotherAuthorityIsNotOneThatIsDemanded() throws Exception {
    var stranger =
        new TlsSettings(
            certificateOf("plane"),
            keyOf("plane"),
            ours.authorityFile(),
            false,
            null,
            HANDSHAKE,
            foreign.certificateFile("stranger"),
            foreign.keyFile("stranger"),
            null);
    assertRefused(stranger, mutual("plane"));
  }

  @ParameterizedTest
  @ValueSource(booleans = {true, false})
  void aSideInTheClearIsRefusedPromptly(boolean requester) throws Exception {
    var secured = tls("plane", ours);
    if (requester) {
      assertRefused(TestPlane.CLEAR, secured);
    } else {
      assertRefused(secured, TestPlane.CLEAR);
    }
  }

  @Test
  void anAnswerThatCannotBeDeliveredOverTlsFailsTheCallAndFreesTheWorker() throws Exception {
    var listensInTheClear =
        new TlsSettings(null, null, ours.authorityFile(), false, null, HANDSHAKE, null, null, null);
    var served = start(listensInTheClear, tls("plane", ours));
    assertThat(call(served).awaitFailure()).isInstanceOf(Migratable.class);
    assertThat(served.drain(Deadline.after(TestPlane.PATIENCE))).isTrue();
    TestPlane.awaitCount(TestPlane.errors(metrics, "response_stream"), 1);
  }

  @Test
  void filesThatAreOfNoUseAreNamedAtTheStart() throws Exception {
    var noKey = Files.writeString(folder.resolve("no.key.pem"), "not a key");
    var bad =
        new TlsSettings(
            certificateOf("plane"), noKey, null, false, null, HANDSHAKE, null, null, null);
    assertThatThrownBy(() -> start(TestPlane.CLEAR, bad))
        .isInstanceOf(IllegalStateException.class)
        .hasMessageContaining("no.key.pem")
        .hasMessageContaining("PKCS #8");
  }

  @Test
  void changedFilesAreUsedByTheConnectionsThatComeAfter() throws Exception {
    ours.sign("rotating", "ip:127.0.0.1");
    var before = tls("plane", ours);
    var served = start(before, tls("rotating", ours));
    assertThat(call(served).awaitCompletion()).hasSize(2);

    awaitAcknowledged();
    Files.copy(foreign.certificateFile("stranger"), certificateOf("rotating"), REPLACE_EXISTING);
    Files.copy(foreign.keyFile("stranger"), keyOf("rotating"), REPLACE_EXISTING);
    reloadWorker();
    assertThat(call(served).awaitCompletion()).as("on the connection that stands").hasSize(2);
    reconnect(before);
    assertThat(call(served).awaitFailure()).isInstanceOf(Migratable.class);
    reconnect(tls("plane", foreign));
    assertThat(call(served).awaitCompletion()).hasSize(2);

    Files.writeString(keyOf("rotating"), "half wri");
    reloadWorker();
    reconnect(tls("plane", foreign));
    assertThat(call(served).awaitCompletion()).as("what there was stays").hasSize(2);
  }

  /** The next request finds the connection of the last one. */
  private void awaitAcknowledged() {
    var calling = client;
    Until.holds(() -> calling != null && calling.pool.load() == 0);
  }

  private void reloadWorker() {
    var accepting = server == null ? null : server.tls.tcp().accepting();
    if (accepting == null) {
      throw new AssertionError("the worker listens in the clear");
    }
    accepting.reload();
  }

  private void reconnect(TlsSettings requester) {
    if (client != null) {
      client.close();
    }
    client = new TcpEndpointClient(TestPlane.secured(requester), TestPlane.LOOPS, metrics);
  }
}
