package io.dynamo.it;

import static org.assertj.core.api.Assertions.assertThat;

import java.io.IOException;
import java.io.InputStream;
import java.net.Socket;
import java.net.SocketException;
import java.net.URI;
import java.nio.charset.StandardCharsets;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;
import org.junit.jupiter.params.provider.ValueSource;

/**
 * Requests to the HTTP port as bytes that no HTTP client would write: what is refused, what the
 * container takes all the same, and who may use administrative routes.
 */
@BuildServer
class HttpParsingIT {
  private static final URI SERVER = URI.create(System.getProperty("base.url"));

  /** Asks for a path that is in no other request here, in the same write as what goes before. */
  private static final String SMUGGLED =
      "GET /v1/smuggled HTTP/1.1\r\nHost: localhost\r\nConnection: close\r\n\r\n";

  private static final int PATIENCE_MILLIS = 20_000;

  /** Returns the answer until the server closes the connection. */
  private static String answer(String request) throws IOException {
    try (var socket = new Socket(SERVER.getHost(), SERVER.getPort())) {
      socket.setSoTimeout(PATIENCE_MILLIS);
      socket.getOutputStream().write(request.getBytes(StandardCharsets.ISO_8859_1));
      return untilClosed(socket.getInputStream());
    }
  }

  private static String untilClosed(InputStream in) throws IOException {
    var reply = new StringBuilder();
    try {
      for (int next = in.read(); next >= 0; next = in.read()) {
        reply.append((char) next);
      }
    } catch (SocketException reset) {
      return reply.toString(); // closed with bytes of ours unread
    }
    return reply.toString();
  }

  private static String unescaped(String text) {
    return text.translateEscapes();
  }

  @ParameterizedTest
  @CsvSource({
    "400, Content-Length: 4\\r\\nTransfer-Encoding: xchunked",
    "400, Content-Length: 4\\r\\nTransfer-Encoding: identity",
    "400, Content-Length: 4\\r\\nContent-Length: 4",
    "400, Content-Length: +4",
    "400, Content-Length: 0x4",
    "400, Transfer-Encoding: xchunked",
    "400, Transfer-Encoding: chunked\\r\\nTransfer-Encoding: identity",
    "501, 'Transfer-Encoding: gzip, chunked'",
    "400, Host: other",
    "400, X-Note: a\\0b",
    "400, x-request-id: a\\033[31mb",
  })
  void ambiguousHeadsAreRefusedAndTheirConnectionCarriesNothingMore(int status, String fields)
      throws IOException {
    var reply =
        answer(
            "POST /v1/chat/completions HTTP/1.1\r\n"
                + "Host: localhost\r\n"
                + "Content-Type: application/json\r\n"
                + unescaped(fields)
                + "\r\n\r\n0\r\n\r\n"
                + SMUGGLED);
    assertThat(reply).startsWith("HTTP/1.1 " + status + " ");
    assertThat(reply)
        .doesNotContain("/v1/smuggled")
        .doesNotContain("\u0000")
        .doesNotContain("\u001b");
  }

  @ParameterizedTest
  @ValueSource(
      strings = {
        "GET /v1/models HTTP/1.1\r\n",
        "GET /v1/models HTTP/1.1\r\nHost: a b\r\n",
        "GET http://localhost/v1/models HTTP/1.1\r\nHost: attacker.example\r\n",
        "POST /v1/models HTTP/1.0\r\nHost: localhost\r\nTransfer-Encoding: chunked\r\n",
        "GET /v1/models HTTP/1.1\r\nHost: localhost\r\nX Y: z\r\n",
      })
  void headsWithoutOneTargetAreRefused(String head) throws IOException {
    assertThat(answer(head + "\r\n" + SMUGGLED))
        .matches("(?s)HTTP/1\\.[01] 400 .*")
        .doesNotContain("/v1/smuggled");
  }

  /**
   * Malformed requests that the container parses before any code of ours runs. A proxy in front has
   * to refuse these: docs/security.md says how. Fails when the container refuses one itself: then
   * the page is wrong.
   */
  @ParameterizedTest
  @CsvSource({
    "a bare CR ends a line, GET /v1/first HTTP/1.1\\r"
        + "\\n"
        + "Host: localhost\\r"
        + "\\n"
        + "X: a\\r"
        + "Y: b\\r"
        + "\\n"
        + "\\r"
        + "\\n",
    "a bare LF ends a line, GET /v1/first HTTP/1.1\\nHost: localhost\\n\\n",
    "a folded line is one, GET /v1/first HTTP/1.1\\r"
        + "\\n"
        + "Host: localhost\\r"
        + "\\n"
        + "X: a\\r"
        + "\\n"
        + " b\\r"
        + "\\n"
        + "\\r"
        + "\\n",
    "a name may end in a space,"
        + " GET /v1/first HTTP/1.1\\r\\nHost: localhost\\r\\nContent-Length : 0\\r\\n\\r\\n",
  })
  void theContainerTakesWhatAProxyHasToRefuse(String what, String request) throws IOException {
    var reply = answer(unescaped(request) + SMUGGLED);
    assertThat(reply).as(what).contains("/v1/smuggled");
  }

  @ParameterizedTest
  @ValueSource(strings = {"100000002", "10000000000000002", "2 ", "2;a=b"})
  void theContainerTakesChunkSizesThatAProxyHasToRefuse(String size) throws IOException {
    var reply =
        answer(
            "POST /v1/chat/completions HTTP/1.1\r\nHost: localhost\r\n"
                + "Content-Type: application/json\r\nConnection: close\r\n"
                + "Transfer-Encoding: chunked\r\n\r\n"
                + size
                + "\r\n{}\r\n0\r\n\r\n");
    assertThat(reply).as("{} was read as the body").startsWith("HTTP/1.1 400 ").contains("model");
  }

  @ParameterizedTest
  @CsvSource({
    "Content-Length: 4\\r\\nTransfer-Encoding: chunked, 2\\r\\n{}\\r\\n0\\r\\n\\r\\n",
    "Transfer-Encoding: chunked\\r\\nContent-Length: 4, 2\\r\\n{}\\r\\n0\\r\\n\\r\\n",
    "Content-Length: 2\\r\\nContent-Length: 30, {}",
    "Content-Length: 30\\r\\nContent-Length: 2, {}",
  })
  void afterABodyOfTwoLengthsTheConnectionCarriesNothingMore(String lengths, String body)
      throws IOException {
    var reply =
        answer(
            "POST /v1/chat/completions HTTP/1.1\r\nHost: localhost\r\n"
                + "Content-Type: application/json\r\n"
                + unescaped(lengths)
                + "\r\n\r\n"
                + unescaped(body)
                + SMUGGLED);
    assertThat(reply).matches("(?s)(HTTP/1\\.1 400 .*)?").doesNotContain("/v1/smuggled");
  }

  @Test
  void trailersAreNoFieldsOfTheRequest() throws IOException {
    var reply =
        answer(
            "POST /v1/chat/completions HTTP/1.1\r\nHost: localhost\r\n"
                + "Content-Type: application/json\r\nTransfer-Encoding: chunked\r\n"
                + "Trailer: X-Request-Id\r\n\r\n"
                + "2\r\n{}\r\n0\r\nX-Request-Id: of-the-trailer\r\nContent-Length: 99\r\n\r\n"
                + SMUGGLED);
    assertThat(reply)
        .startsWith("HTTP/1.1 400 ")
        .doesNotContain("of-the-trailer")
        .as("the next request begins after the trailers")
        .contains("/v1/smuggled");
  }

  @ParameterizedTest
  @ValueSource(
      strings = {"/router/explain", "/busy_threshold", "/worker/status", "/router/%65xplain"})
  void administrativeRoutesAreForCommandsOnThisMachine(String path) throws IOException {
    var ask = "GET " + path + " HTTP/1.1\r\nConnection: close\r\nHost: ";
    assertThat(answer(ask + "localhost\r\n\r\n")).startsWith("HTTP/1.1 200 ");
    for (var foreign :
        new String[] {
          "attacker.example\r\n",
          "attacker.example\r\n$WSSN: localhost\r\n",
          "attacker.example\r\nX-Forwarded-Host: localhost\r\n",
          "localhost\r\nOrigin: http://localhost:3000\r\n",
          "localhost\r\nX-Forwarded-For: 127.0.0.1\r\n",
          "localhost\r\nSec-Fetch-Site: cross-site\r\n",
        }) {
      assertThat(answer(ask + foreign + "\r\n")).as(foreign).startsWith("HTTP/1.1 403 ");
    }
    assertThat(answer("GET " + path + " HTTP/1.0\r\nHost: localhost\r\n\r\n"))
        .as("what proxies speak")
        .startsWith("HTTP/1.0 403 ");
  }

  @ParameterizedTest
  @ValueSource(
      strings = {
        "/v1/models",
        "/v1/nothing",
        "/live",
        "/worker/status",
        "/busy_threshold",
        "/nope"
      })
  void everyRouteOfOursRepeatsTheRequestIdOfItsCaller(String path) throws IOException {
    var ask = "GET " + path + " HTTP/1.1\r\nHost: localhost\r\nConnection: close\r\n";
    assertThat(answer(ask + "X-Request-Id: mine-1\r\n\r\n"))
        .containsIgnoringCase("\r\nx-request-id: mine-1\r\n");
    assertThat(answer(ask + "X-Request-Id: a\u009bb\r\n\r\n"))
        .doesNotContain("\u009b")
        .doesNotContainIgnoringCase("x-request-id:");
  }
}
