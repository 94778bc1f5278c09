package io.dynamo.it;

import static org.assertj.core.api.Assertions.assertThat;

import java.io.IOException;
import java.net.Socket;
import java.net.URI;
import java.nio.charset.StandardCharsets;
import org.junit.jupiter.api.RepeatedTest;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;

/** The heads of answers state their bodies' length and their connections' end. */
@BuildServer
class AnswerHeadsIT {
  private static final URI SERVER = URI.create(System.getProperty("base.url"));

  @RepeatedTest(5)
  void aStreamOfOneTokenIsChunkedToo() throws IOException {
    var body = ChatClient.body(Cluster.MODEL, "Hello", 1, true);
    try (var socket = new Socket(SERVER.getHost(), SERVER.getPort())) {
      socket.setSoTimeout(20_000);
      var request =
          "POST /v1/chat/completions HTTP/1.1\r\nHost: localhost\r\nConnection: close\r\n"
              + "Content-Type: application/json\r\nContent-Length: %d\r\n\r\n%s"
                  .formatted(body.length(), body);
      socket.getOutputStream().write(request.getBytes(StandardCharsets.US_ASCII));
      var answer =
          new String(socket.getInputStream().readAllBytes(), StandardCharsets.UTF_8)
              .split("\r\n\r\n", 2);
      assertThat(answer[0]).startsWith("HTTP/1.1 200 ").containsIgnoringCase("chunked");
      assertThat(answer[0]).doesNotContainIgnoringCase("content-length");
      assertThat(answer[1]).contains("data: [DONE]").endsWith("0\r\n\r\n");
    }
  }

  @ParameterizedTest
  @CsvSource({
    "400, POST, /v1/chat/completions, {",
    "400, POST, /v1/chat/completions, {}",
    "404, POST, /v1/completions, '{\"model\":\"none\",\"prompt\":\"a\"}'",
    "404, GET, /v1/models/none, ''",
    "404, GET, /nowhere, ''",
    "400, POST, /v1/messages, {",
    "400, POST, /v1/responses, {}",
    "404, GET, /v1/responses/resp_1, ''",
    "400, POST, /v1/messages/count_tokens, {}",
    "404, GET, /v1/messages/nowhere, ''",
    "400, POST, /v1/embeddings, {}",
    "400, POST, /tokenize, {}",
    "400, POST, /detokenize, {",
    "400, POST, /inference/v1/generate, {}",
    "400, PUT, /generate, {}",
    "405, GET, /generate, ''",
    "405, GET, /v1/chat/completions, ''",
  })
  void anErrorKeepsTheConnectionWhenTheBodyWasRead(
      int status, String method, String path, String body) throws IOException {
    try (var socket = new Socket(SERVER.getHost(), SERVER.getPort())) {
      socket.setSoTimeout(20_000);
      var request =
          method
              + " "
              + path
              + " HTTP/1.1\r\nHost: localhost\r\n%sContent-Length: %d\r\n"
              + "Content-Type: application/json\r\n\r\n"
              + body;
      var out = socket.getOutputStream();
      out.write(request.formatted("", body.length()).getBytes(StandardCharsets.US_ASCII));
      out.write(
          request
              .formatted("Connection: close\r\n", body.length())
              .getBytes(StandardCharsets.US_ASCII));
      var reply = new String(socket.getInputStream().readAllBytes(), StandardCharsets.UTF_8);
      assertThat(reply.split("HTTP/1.1 " + status + " ", -1)).as(reply).hasSize(3);
    }
  }

  @Test
  void anErrorBeforeTheBodyWasReadEndsTheConnection() throws IOException {
    try (var socket = new Socket(SERVER.getHost(), SERVER.getPort())) {
      socket.setSoTimeout(20_000);
      socket
          .getOutputStream()
          .write(
              String.join(
                      "\r\n",
                      "POST /v1/chat/completions HTTP/1.1",
                      "Host: localhost",
                      "Content-Length: 999999999",
                      "Content-Type: application/json",
                      "",
                      "")
                  .getBytes(StandardCharsets.US_ASCII));
      var head = new StringBuilder();
      while (head.indexOf("\r\n\r\n") < 0) {
        int next = socket.getInputStream().read();
        assertThat(next).as("the answer so far: %s", head).isNotNegative();
        head.append((char) next);
      }
      assertThat(head).startsWith("HTTP/1.1 413 ").containsIgnoringCase("connection: close");
    }
  }
}
