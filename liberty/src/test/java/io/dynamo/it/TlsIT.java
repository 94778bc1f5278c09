package io.dynamo.it;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import java.io.IOException;
import java.net.InetAddress;
import java.net.Socket;
import java.net.SocketTimeoutException;
import java.net.URI;
import java.net.http.HttpClient;
import java.net.http.HttpRequest;
import java.net.http.HttpResponse;
import java.nio.file.Path;
import java.time.Duration;
import javax.net.ssl.SSLContext;
import javax.net.ssl.SSLSocket;
import org.junit.jupiter.api.AfterAll;
import org.junit.jupiter.api.BeforeAll;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;
import org.junit.jupiter.api.parallel.Isolated;

/** The HTTP port under TLS, asked for by Dynamo's variables alone. */
@Sampled
@Isolated("its times would be those of other tests, too")
class TlsIT {
  // a hang-up is noticed within milliseconds; the rest is for a busy machine
  private static final Duration WITHIN = Duration.ofMillis(50);
  private static final Duration INTERVAL = Duration.ofMillis(50);

  private static final Duration LOGGED_WITHIN = Duration.ofSeconds(30);
  private static final String REFUSED_HANDSHAKE = "CWWKO0801E";
  private static final int TCP_PROBES = 5;

  @TempDir static Path folder;
  private static Identities identities;

  @SuppressWarnings("NullAway.Init") // before all
  private static ServerProcess server;

  @SuppressWarnings("NullAway.Init") // before all
  private static ServerProcess mutual;

  private static int grpcPort; // of the second

  /** Both at once. */
  @BeforeAll
  static void start() throws Exception {
    identities = new Identities(folder, "server", "client");
    grpcPort = ServerProcess.freePort();
    server =
        plan("tls")
            .with("DYNAMO_WORKER_PREFILL_PER_TOKEN", "40ms")
            .with("DYNAMO_WORKER_TOKEN_INTERVAL", INTERVAL.toMillis() + "ms")
            .start();
    mutual =
        plan("tls-mutual")
            .with("DYN_TLS_CLIENT_CA_CERT_PATH", identities.authorityFile().toString())
            .with("DYN_KSERVE_GRPC_SERVER", "true")
            .with("DYNAMO_GRPC_PORT", Integer.toString(grpcPort))
            .over(identities.client("client"))
            .start();
    server.awaitReady();
    mutual.awaitReady();
  }

  @AfterAll
  static void stop() {
    server.close();
    mutual.close();
  }

  private static ServerProcess.Plan plan(String name) throws Exception {
    return ServerProcess.Plan.named(name)
        .with("DYN_TLS_CERT_PATH", identities.certificateFile("server").toString())
        .with("DYN_TLS_KEY_PATH", identities.keyFile("server").toString())
        .over(identities.client(null));
  }

  private static String body(String prompt, boolean stream) {
    return ChatClient.body(Cluster.MODEL, prompt, 4, stream);
  }

  @Test
  void streamsAndHearsItsClientsHangUpUnderTls() throws Exception {
    try (var streamed = server.chat(body("Say it in pieces", true));
        var whole = server.chat(body("Say it at once", false))) {
      assertThat(streamed.text()).isNotEmpty();
      assertThat(whole.json().at("/choices/0/message/content").asText()).isNotEmpty();
    }
    assertSpeaksHttp11OverTlsOnly();
    Polling.until(
        "the first lines name the address",
        Duration.ofSeconds(30),
        () -> server.console().contains("serves \"tiny\" at https://127.0.0.1:" + server.port()));

    assertThat(Departures.median(server, "tls prefill", true, false, ChatClient::hangUp))
        .isLessThan(WITHIN);
    assertThat(Departures.median(server, "tls stream", true, true, ChatClient::hangUp))
        .isLessThan(WITHIN);
    assertThat(Departures.median(server, "tls unary", false, false, ChatClient::hangUp))
        .isLessThan(WITHIN);
    assertThat(Departures.median(server, "tls reset", true, true, ChatClient::reset))
        .isLessThan(WITHIN);
  }

  /** A client that would rather speak HTTP/2 gets HTTP/1.1; one without TLS gets nothing. */
  private static void assertSpeaksHttp11OverTlsOnly() throws Exception {
    assertThat(server.get("/v1/models").version()).isEqualTo(HttpClient.Version.HTTP_1_1);
    var context = identities.client(null);
    var address = InetAddress.getLoopbackAddress();
    try (var socket = (SSLSocket) context.getSocketFactory().createSocket(address, server.port())) {
      var parameters = socket.getSSLParameters();
      parameters.setApplicationProtocols(new String[] {"h2", "http/1.1"});
      socket.setSSLParameters(parameters);
      socket.startHandshake();
      assertThat(socket.getApplicationProtocol()).isIn("", "http/1.1");
      assertThat(socket.getSession().getProtocol()).isEqualTo("TLSv1.3");
    }
    try (var clear = ChatClient.post(server.port(), body("Anybody there?", true))) {
      assertThatThrownBy(clear::status)
          .isInstanceOf(IOException.class)
          .isNotInstanceOf(SocketTimeoutException.class);
    }
  }

  @Test
  void clientsWithoutACertificateOfTheAuthorityAreRefused() throws Exception {
    var strangers = new Identities(folder.resolve("strangers"), "client");
    try (var streamed = mutual.chat(body("It is me", true))) {
      assertThat(streamed.text()).isNotEmpty();
    }

    knock(mutual, TCP_PROBES); // as load balancers do, which must not leave a line each
    assertThat(lines(mutual, REFUSED_HANDSHAKE)).isZero();
    assertRefused(mutual, identities.client(null));
    Polling.until(
        "a line of a client without a certificate",
        LOGGED_WITHIN,
        () -> lines(mutual, REFUSED_HANDSHAKE) > 0);
    assertThat(mutual.messages()).containsPattern(REFUSED_HANDSHAKE + ".*certificate");
    assertRefused(mutual, strangers.client("client", identities));

    try (var streamed = mutual.chat(body("It is me again", true))) {
      assertThat(streamed.text()).isNotEmpty();
    }
  }

  @Test
  void grpcPortHasTheSameTlsAndDemandsTheSameCertificates() throws Exception {
    var called = call(HttpClient.newBuilder().sslContext(identities.client("client")), "https");
    assertThat(called.version()).isEqualTo(HttpClient.Version.HTTP_2);
    assertThat(called.headers().firstValue("content-type")).contains("application/grpc");
    assertThat(called.body())
        .as("a message of two bytes: live")
        .containsExactly(0, 0, 0, 0, 2, 8, 1);

    var stranger = HttpClient.newBuilder().sslContext(identities.client(null));
    assertThatThrownBy(() -> call(stranger, "https")).isInstanceOf(IOException.class);
    assertThatThrownBy(() -> call(HttpClient.newBuilder(), "http")).isInstanceOf(IOException.class);
  }

  /** Asks the gRPC port whether the server lives, with an empty message. */
  private static HttpResponse<byte[]> call(HttpClient.Builder client, String scheme)
      throws IOException, InterruptedException {
    var method = "/inference.GRPCInferenceService/ServerLive";
    try (var http = client.version(HttpClient.Version.HTTP_2).build()) {
      return http.send(
          HttpRequest.newBuilder(URI.create(scheme + "://127.0.0.1:" + grpcPort + method))
              .timeout(Duration.ofSeconds(30))
              .header("content-type", "application/grpc")
              .header("te", "trailers")
              .POST(HttpRequest.BodyPublishers.ofByteArray(new byte[5]))
              .build(),
          HttpResponse.BodyHandlers.ofByteArray());
    }
  }

  /** Connects and leaves. */
  private static void knock(ServerProcess server, int times) throws IOException {
    for (int i = 0; i < times; i++) {
      new Socket(InetAddress.getLoopbackAddress(), server.port()).close();
    }
  }

  private static long lines(ServerProcess server, String code) {
    return server.messages().lines().filter(line -> line.contains(code)).count();
  }

  /** Under TLS 1.3 the client is refused after its own side of the handshake: when it reads. */
  private static void assertRefused(ServerProcess server, SSLContext client) {
    assertThatThrownBy(
            () -> {
              try (var refused =
                  ChatClient.post(server.port(), client, body("Who goes there?", true))) {
                refused.status();
              }
            })
        .isInstanceOf(IOException.class)
        .isNotInstanceOf(SocketTimeoutException.class);
  }
}
