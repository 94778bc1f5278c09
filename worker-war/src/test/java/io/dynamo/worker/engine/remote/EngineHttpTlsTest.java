package io.dynamo.worker.engine.remote;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import com.sun.net.httpserver.HttpsConfigurator;
import com.sun.net.httpserver.HttpsServer;
import io.dynamo.net.PemTrust;
import io.dynamo.worker.engine.SharedLoops;
import java.io.IOException;
import java.net.InetAddress;
import java.net.InetSocketAddress;
import java.net.URI;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.nio.file.Path;
import java.security.KeyStore;
import java.time.Duration;
import java.util.ArrayList;
import java.util.Base64;
import java.util.List;
import java.util.Map;
import java.util.concurrent.locks.LockSupport;
import javax.net.ssl.KeyManagerFactory;
import javax.net.ssl.SSLContext;
import javax.net.ssl.SSLException;
import org.jspecify.annotations.Nullable;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

/** Asks a server whose certificate signs itself. */
class EngineHttpTlsTest {
  private static final char[] PASSWORD = "changeit".toCharArray(); // of the test's certificates

  private static final int LINES = 1000;
  private static final Duration PATIENCE = Duration.ofSeconds(30);

  @TempDir private Path folder;
  private Path certificate;
  private HttpsServer server;

  @BeforeEach
  void serve() throws Exception {
    var store = folder.resolve("server.p12");
    keytool(store);
    var own = KeyStore.getInstance(store.toFile(), PASSWORD);
    var pem = Base64.getMimeEncoder(64, new byte[] {'\n'});
    certificate =
        Files.writeString(
            folder.resolve("server.pem"),
            "-----BEGIN CERTIFICATE-----\n%s\n-----END CERTIFICATE-----\n"
                .formatted(pem.encodeToString(own.getCertificate("server").getEncoded())));
    var keys = KeyManagerFactory.getInstance(KeyManagerFactory.getDefaultAlgorithm());
    keys.init(own, PASSWORD);
    var context = SSLContext.getInstance("TLS");
    context.init(keys.getKeyManagers(), null, null);
    server = HttpsServer.create(new InetSocketAddress(InetAddress.getLoopbackAddress(), 0), 0);
    server.setHttpsConfigurator(new HttpsConfigurator(context));
    server.createContext(
        "/health",
        exchange -> {
          exchange.sendResponseHeaders(200, -1);
          exchange.close();
        });
    server.createContext(
        "/stream",
        exchange -> {
          exchange.sendResponseHeaders(200, 0);
          try (var body = exchange.getResponseBody()) {
            for (int line = 0; line < LINES; line++) {
              body.write(("data: " + line + "\n").getBytes(StandardCharsets.UTF_8));
              body.flush();
            }
          }
        });
    server.start();
  }

  private static void keytool(Path store) throws IOException, InterruptedException {
    var tool = Path.of(System.getProperty("java.home"), "bin", "keytool");
    var words =
        "%s -genkeypair -keyalg EC -dname CN=server -ext san=ip:127.0.0.1 -alias server -storepass %s -keystore"
            .formatted(tool, new String(PASSWORD));
    var command = new ArrayList<>(List.of(words.split(" ", -1)));
    command.add(store.toString());
    var process = new ProcessBuilder(command).redirectErrorStream(true).start();
    var output = new String(process.getInputStream().readAllBytes(), StandardCharsets.UTF_8);
    assertThat(process.waitFor()).as(output).isZero();
  }

  @AfterEach
  void stop() {
    server.stop(0);
  }

  private EngineHttp client(@Nullable SSLContext tls) {
    return new EngineHttp(
        SharedLoops.LOOPS,
        "test",
        URI.create("https://127.0.0.1:" + server.getAddress().getPort()),
        "the.setting",
        null,
        tls,
        1000);
  }

  @Test
  void aServerIsTrustedByTheAuthoritiesOfItsSettingAlone() throws Exception {
    try (var trusting = client(PemTrust.context(certificate));
        var strict = client(null)) {
      assertThat(trusting.get("/health").statusCode()).isEqualTo(200);
      assertThatThrownBy(() -> strict.get("/health")).isInstanceOf(SSLException.class);
    }
  }

  @Test
  void answersAreStreamed() throws Exception {
    var reader = Thread.currentThread();
    var lines = new ArrayList<String>();
    try (var trusting = client(PemTrust.context(certificate));
        var exchange =
            trusting.stream("/stream", new byte[0], Map.of(), () -> LockSupport.unpark(reader))) {
      long deadline = System.nanoTime() + PATIENCE.toNanos();
      while (System.nanoTime() < deadline) {
        var line = exchange.line();
        if (line != null) {
          lines.add(new String(line, StandardCharsets.UTF_8));
        } else if (exchange.isOver()) {
          break;
        } else {
          LockSupport.parkNanos(PATIENCE.toNanos());
        }
      }
    }
    assertThat(lines).hasSize(LINES).startsWith("data: 0").endsWith("data: " + (LINES - 1));
  }

  @Test
  void aFileWithoutCertificatesIsRefused() throws IOException {
    var empty = Files.writeString(folder.resolve("empty.pem"), "");
    var garbage = Files.writeString(folder.resolve("garbage.pem"), "no certificate");

    assertThatThrownBy(() -> PemTrust.context(empty)).isInstanceOf(IOException.class);
    assertThatThrownBy(() -> PemTrust.context(garbage)).isInstanceOf(IOException.class);
    assertThatThrownBy(() -> PemTrust.context(folder.resolve("none")))
        .isInstanceOf(IOException.class);
  }
}
