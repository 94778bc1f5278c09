package io.dynamo.frontend.media;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatExceptionOfType;

import com.sun.net.httpserver.HttpsConfigurator;
import com.sun.net.httpserver.HttpsServer;
import java.io.IOException;
import java.net.InetAddress;
import java.net.InetSocketAddress;
import java.nio.charset.StandardCharsets;
import java.nio.file.Path;
import java.security.KeyStore;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import javax.net.ssl.KeyManagerFactory;
import javax.net.ssl.SSLContext;
import javax.net.ssl.SSLHandshakeException;
import org.jspecify.annotations.Nullable;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

/** TLS to an address that was checked, with the name that the URL has. */
class HttpGetTlsTest {
  private static final char[] PASSWORD = "changeit".toCharArray(); // of the test's certificate

  @TempDir private Path folder;
  private KeyStore keys;
  private HttpsServer server;

  @BeforeEach
  void serve() throws Exception {
    var store = folder.resolve("media.p12");
    keytool(store);
    keys = KeyStore.getInstance(store.toFile(), PASSWORD);
    var managers = KeyManagerFactory.getInstance(KeyManagerFactory.getDefaultAlgorithm());
    managers.init(keys, PASSWORD);
    var context = SSLContext.getInstance("TLS");
    context.init(managers.getKeyManagers(), null, null);
    server = HttpsServer.create(new InetSocketAddress(InetAddress.getLoopbackAddress(), 0), 0);
    server.setHttpsConfigurator(new HttpsConfigurator(context));
    server.createContext(
        "/",
        exchange -> {
          exchange.sendResponseHeaders(200, 2);
          exchange.getResponseBody().write("hi".getBytes(StandardCharsets.US_ASCII));
          exchange.close();
        });
    server.start();
  }

  private static void keytool(Path store) throws IOException, InterruptedException {
    var tool = Path.of(System.getProperty("java.home"), "bin", "keytool");
    var words =
        "%s -J-XX:TieredStopAtLevel=1 -genkeypair -keyalg EC -dname CN=x -ext san=dns:media.example -alias media -storepass %s -keystore"
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

  private int status(String host, @Nullable KeyStore trusted) throws Exception {
    var url = MediaUrl.parse("https://%s:%d/".formatted(host, server.getAddress().getPort()), null);
    try (var get =
        HttpGet.connect(
            url,
            InetAddress.getLoopbackAddress(),
            Duration.ofSeconds(30),
            HttpGet.trusting(trusted))) {
      return get.send(new HttpGet.Request(url, "test", "*/*", 0)).status();
    }
  }

  @Test
  void theCertificateIsThatOfTheName() throws Exception {
    assertThat(status("media.example", keys)).isEqualTo(200);
    assertThatExceptionOfType(SSLHandshakeException.class)
        .isThrownBy(() -> status("other.example", keys));
  }

  @Test
  void strangersAreNotTrusted() {
    assertThatExceptionOfType(SSLHandshakeException.class)
        .isThrownBy(() -> status("media.example", null));
  }
}
