package io.dynamo.net;

import static java.nio.charset.StandardCharsets.US_ASCII;
import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import java.io.IOException;
import java.net.ConnectException;
import java.net.InetAddress;
import java.net.ServerSocket;
import java.net.URI;
import java.net.http.HttpClient;
import java.net.http.HttpRequest;
import java.net.http.HttpResponse;
import java.net.http.HttpTimeoutException;
import java.time.Duration;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;

@Timeout(60)
class WholeExchangeTest {
  private final ServerSocket server = new ServerSocket(0, 5, InetAddress.getLoopbackAddress());
  private final HttpClient client =
      HttpClient.newBuilder().version(HttpClient.Version.HTTP_1_1).build();

  WholeExchangeTest() throws IOException {}

  @AfterEach
  void close() throws IOException {
    client.shutdownNow();
    server.close();
  }

  private HttpRequest request(Duration timeout) {
    return HttpRequest.newBuilder(URI.create("http://127.0.0.1:" + server.getLocalPort()))
        .timeout(timeout)
        .build();
  }

  /** Answers the next connection with a head that promises ten bytes, and with {@code body}. */
  private Thread answer(String body) {
    return Thread.ofVirtual()
        .start(
            () -> {
              try (var peer = server.accept()) {
                peer.getOutputStream()
                    .write(
                        ("HTTP/1.1 200 OK\r\nContent-Length: 10\r\n\r\n" + body)
                            .getBytes(US_ASCII));
                while (peer.getInputStream().read() >= 0) {} // until the client leaves
              } catch (IOException _) {
                // the client has left
              }
            });
  }

  @Test
  void anAnswerIsReturned() throws Exception {
    answer("0123456789");
    assertThat(
            WholeExchange.send(
                    client, request(Duration.ofSeconds(30)), HttpResponse.BodyHandlers.ofString())
                .body())
        .isEqualTo("0123456789");
  }

  @Test
  void aBodyThatStallsEndsTheWaitAndTheConnection() throws Exception {
    var peer = answer("012");
    assertThatThrownBy(
            () ->
                WholeExchange.send(
                    client, request(Duration.ofSeconds(1)), HttpResponse.BodyHandlers.ofString()))
        .isInstanceOf(HttpTimeoutException.class)
        .hasMessageContaining("has not answered completely within PT1S");
    assertThat(peer.join(Duration.ofSeconds(30))).as("the connection is closed").isTrue();
  }

  @Test
  void aServerThatIsNotThereIsNamedByItsOwnError() throws Exception {
    server.close();
    assertThatThrownBy(
            () ->
                WholeExchange.send(
                    client, request(Duration.ofSeconds(30)), HttpResponse.BodyHandlers.ofString()))
        .isInstanceOf(ConnectException.class);
  }

  @Test
  void aRequestWithoutALimitIsRefused() {
    var endless = HttpRequest.newBuilder(URI.create("http://127.0.0.1:1")).build();
    assertThatThrownBy(
            () -> WholeExchange.send(client, endless, HttpResponse.BodyHandlers.discarding()))
        .isInstanceOf(IllegalArgumentException.class);
  }
}
