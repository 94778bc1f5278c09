package io.dynamo.it;

import static org.assertj.core.api.Assertions.assertThat;

import com.fasterxml.jackson.databind.ObjectMapper;
import java.io.IOException;
import java.net.InetAddress;
import java.net.InetSocketAddress;
import java.net.Socket;
import java.net.http.HttpRequest.BodyPublishers;
import java.net.http.HttpResponse;
import java.nio.charset.StandardCharsets;
import java.util.List;
import java.util.stream.Stream;
import org.junit.jupiter.api.AfterAll;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.Arguments;
import org.junit.jupiter.params.provider.FieldSource;
import org.junit.jupiter.params.provider.MethodSource;

/** Bodies that mean harm on every route that takes JSON: each is a client's error, at once. */
class HostileRoutesIT {
  private static final ObjectMapper JSON = new ObjectMapper();
  private static final int TOO_LARGE = (45 << 20) + 1;

  /** The routes that read JSON, all of them served by the shared server or refused by name. */
  static final List<String> ROUTES =
      List.of(
          "/v1/chat/completions",
          "/v1/completions",
          "/v1/responses",
          "/v1/responses/input_tokens",
          "/v1/messages",
          "/v1/messages/count_tokens",
          "/v1/embeddings",
          "/v1/rerank",
          "/v1/classify",
          "/v1/pooling",
          "/v1/images/generations",
          "/v1/images/edits",
          "/v1/videos",
          "/v1/videos/stream",
          "/v1/audio/speech",
          "/tokenize",
          "/detokenize",
          "/inference/v1/generate",
          "/generate",
          "/v1/batches",
          "/v1/conversations",
          "/v2/models/" + Cluster.MODEL + "/infer",
          "/v2/models/" + Cluster.MODEL + "/generate",
          "/v2/models/" + Cluster.MODEL + "/generate_stream");

  private static final List<String> BODIES =
      List.of(
          "[".repeat(100_000),
          "{\"a\":".repeat(100_000),
          "{\"model\":\"" + Cluster.MODEL + "\",\"model\":\"" + Cluster.MODEL + "\"}",
          "{\"model\":\"" + Cluster.MODEL + "\",\"temperature\":1e999}",
          "{\"model\":\"" + Cluster.MODEL + "\",\"seed\":1" + "0".repeat(5_000) + "}",
          "{\"model\":\"\\ud83d\"}",
          "{\"model\":NaN}",
          "{\"model\":{\"a\":[1]}}",
          "{\"model\":\"" + "m".repeat(1 << 20) + "\"}",
          "{\"" + "k".repeat(1 << 20) + "\":1}",
          "\ufeff{}",
          "null",
          "[]",
          "\"x\"",
          "5",
          "{} x",
          "{");

  static Stream<Arguments> cases() {
    return ROUTES.stream()
        .flatMap(
            route ->
                Stream.iterate(0, i -> i < BODIES.size(), i -> i + 1)
                    .map(i -> Arguments.of(route, i)));
  }

  @AfterAll
  static void othersAreServed() throws Exception {
    var chat = ChatClient.body(Cluster.MODEL, "Hello", 1, false);
    assertThat(SharedServer.get().post("/v1/chat/completions", chat).statusCode()).isEqualTo(200);
  }

  @ParameterizedTest(name = "{0}, body {1}")
  @MethodSource("cases")
  void aBodyIsRefusedWithAnExplanation(String route, int body) throws Exception {
    var answer = SharedServer.get().post(route, BODIES.get(body));
    assertThat(answer.statusCode()).as(answer.body()).isBetween(400, 499);
    assertIsExplained(answer);
  }

  @ParameterizedTest
  @FieldSource("ROUTES")
  void brokenTextIsNoServerError(String route) throws Exception {
    var bytes = new byte[] {'{', '"', 'm', (byte) 0xff, (byte) 0xfe, '"', ':', '1', '}'};
    var answer = SharedServer.get().post(route, BodyPublishers.ofByteArray(bytes));
    assertThat(answer.statusCode()).as(answer.body()).isBetween(400, 499);
    assertIsExplained(answer);
  }

  private static void assertIsExplained(HttpResponse<String> answer) throws IOException {
    var json = JSON.readTree(answer.body());
    var error = json.path("error");
    var words = error.isTextual() ? error.asText() : error.path("message").asText();
    assertThat(words).as(answer.body()).isNotBlank().hasSizeLessThan(2_000);
  }

  @ParameterizedTest
  @FieldSource("ROUTES")
  void aBodyThatIsDeclaredTooLargeIsRefusedBeforeItComes(String route) throws Exception {
    try (var socket = new Socket()) {
      socket.setSoTimeout(30_000);
      socket.connect(
          new InetSocketAddress(InetAddress.getLoopbackAddress(), SharedServer.get().port()),
          5_000);
      var head =
          "POST %s HTTP/1.1\r\nHost: 127.0.0.1\r\nContent-Type: application/json\r\nContent-Length: %d\r\n\r\n{"
              .formatted(route, TOO_LARGE);
      socket.getOutputStream().write(head.getBytes(StandardCharsets.US_ASCII));
      var status = new String(socket.getInputStream().readNBytes(12), StandardCharsets.US_ASCII);
      assertThat(status).isEqualTo("HTTP/1.1 413");
    }
  }
}
