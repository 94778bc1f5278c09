package io.dynamo.pipeline.http;

import static org.assertj.core.api.Assertions.assertThat;

import io.dynamo.pipeline.EventLoops;
import java.io.IOException;
import java.io.InputStream;
import java.net.InetAddress;
import java.net.InetSocketAddress;
import java.net.Socket;
import java.net.SocketException;
import java.net.SocketTimeoutException;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.nio.file.Path;
import java.time.Duration;
import java.util.Map;
import java.util.concurrent.CountDownLatch;
import java.util.concurrent.TimeUnit;
import org.jspecify.annotations.Nullable;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;
import org.junit.jupiter.api.io.TempDir;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;

@Timeout(30)
class HttpServerTest {
  /** Shared and never closed: closing takes seconds, and its threads are daemons. */
  private static final EventLoops LOOPS = new EventLoops(1);

  private static final Duration LONG = Duration.ofSeconds(20);
  private static final Duration SHORT = Duration.ofMillis(150);

  private static final String LAST = "GET %s HTTP/1.1\r\nhost: h\r\nconnection: close\r\n\r\n";

  private @Nullable HttpServer server;

  private Socket connect(HttpLimits limits, HttpHandler handler) throws IOException {
    var started =
        new HttpServer(
            LOOPS, new InetSocketAddress(InetAddress.getLoopbackAddress(), 0), limits, handler);
    server = started;
    return connect(started);
  }

  private static Socket connect(HttpServer to) throws IOException {
    var socket = new Socket(to.address().getAddress(), to.address().getPort());
    socket.setSoTimeout((int) LONG.toMillis());
    return socket;
  }

  @AfterEach
  void close() {
    if (server != null) {
      server.close();
    }
  }

  private static HttpLimits limits(Duration receive, Duration handle, Duration stall) {
    return new HttpLimits(1024, 4096, 6000, 2, receive, handle, stall);
  }

  private static HttpLimits patient() {
    return limits(LONG, LONG, LONG);
  }

  private static void send(Socket to, String text) throws IOException {
    to.getOutputStream().write(text.getBytes(StandardCharsets.US_ASCII));
  }

  private static String rest(Socket from) throws IOException {
    return new String(from.getInputStream().readAllBytes(), StandardCharsets.US_ASCII);
  }

  @Test
  void pipelinedRequestsAreAnsweredInOrder() throws Exception {
    try (var client = connect(patient(), call -> HttpAnswer.text(200, call.path()))) {
      send(client, "GET /one?x=1 HTTP/1.1\r\nhost: h\r\n\r\n" + LAST.formatted("/two"));
      assertThat(rest(client))
          .matches("(?s)HTTP/1.1 200 OK\r\ncontent-type: text/plain; charset=utf-8\r\n.*/oneHTTP.*")
          .endsWith("\r\n\r\n/two");
    }
  }

  @Test
  void theHandlerSeesMethodHeadersAndBody() throws Exception {
    HttpHandler echo =
        call ->
            HttpAnswer.text(
                201,
                call.method()
                    + call.header("x-tenant")
                    + new String(call.body(), StandardCharsets.US_ASCII));
    try (var client = connect(patient(), echo)) {
      send(
          client,
          "POST / HTTP/1.1\r\nhost: h\r\nX-Tenant: blue\r\nconnection: close\r\ncontent-length: 4\r\n"
              + "\r\nbody");
      assertThat(rest(client)).startsWith("HTTP/1.1 201 Created").endsWith("\r\n\r\nPOSTbluebody");
    }
  }

  @Test
  void filesAreSentWholeAndHeadsWithoutThem(@TempDir Path directory) throws Exception {
    var file = directory.resolve("large");
    Files.write(file, new byte[300_000]);
    try (var client = connect(patient(), _ -> HttpAnswer.file(file))) {
      send(client, "HEAD / HTTP/1.1\r\nhost: h\r\n\r\n" + LAST.formatted("/"));
      var answers = rest(client).split("\r\n\r\n", -1);
      assertThat(answers).hasSize(3);
      assertThat(answers[0]).contains("content-length: 300000");
      assertThat(answers[1]).startsWith("HTTP/1.1 200 OK").contains("content-length: 300000");
      assertThat(answers[2]).hasSize(300_000);
    }
  }

  @Test
  void malformedRequestsAreRefusedAndTheConnectionClosed() throws Exception {
    try (var client = connect(patient(), _ -> HttpAnswer.text(200, "never"))) {
      send(client, "nonsense\r\n\r\n");
      assertThat(rest(client)).startsWith("HTTP/1.1 400 ");
    }
    try (var client = connect(running())) {
      send(client, "GET / HTTP/1.1\r\nx: " + "y".repeat(2000) + "\r\n\r\n");
      assertThat(rest(client)).startsWith("HTTP/1.1 431 ");
    }
    try (var client = connect(running())) {
      send(client, "GET /" + "y".repeat(2000) + " HTTP/1.1\r\n\r\n");
      assertThat(rest(client)).startsWith("HTTP/1.1 414 ");
    }
    try (var client = connect(running())) {
      send(client, "POST / HTTP/1.1\r\ncontent-length: 5000\r\n\r\n");
      assertThat(rest(client)).startsWith("HTTP/1.1 413 ");
    }
  }

  /** Requests that two servers in a row could take for different ones. */
  @ParameterizedTest
  @ValueSource(
      strings = {
        "connection: x\r\n",
        "host: a\r\nhost: b\r\n",
        "host: a b\r\n",
        "host: a/b\r\n",
        "host: h\r\ncontent-length: 4\r\ncontent-length: 4\r\n",
        "host: h\r\ncontent-length: 4\r\ncontent-length: 5\r\n",
        "host: h\r\ncontent-length: 4, 4\r\n",
        "host: h\r\ncontent-length: +4\r\n",
        "host: h\r\ncontent-length: 18446744073709551620\r\n",
        "host: h\r\ncontent-length: 4\r\ntransfer-encoding: chunked\r\n",
        "host: h\r\ncontent-length: 4\r\ntransfer-encoding: xchunked\r\n",
        "host: h\r\ntransfer-encoding: chunked, identity\r\n",
        "host: h\r\nx: a\rb\r\n",
        "host: h\r\nx: a\u0000b\r\n",
        "host: h\r\nx: a\u001bb\r\n",
        "host: h\r\nx y: a\r\n",
        "host: h\r\nx : a\r\n",
      })
  void ambiguousHeadsAreRefusedAndTheConnectionClosed(String header) throws Exception {
    try (var client = connect(patient(), _ -> HttpAnswer.text(200, "never"))) {
      send(client, "POST / HTTP/1.1\r\n" + header + "\r\nbody" + LAST.formatted("/smuggled"));
      assertThat(rest(client)).startsWith("HTTP/1.1 400 ").doesNotContain("HTTP/1.1 200");
    }
  }

  @Test
  void aHandlerThatFailsIsAnswered500WithoutAWordOfIt() throws Exception {
    try (var client =
        connect(
            patient(),
            _ -> {
              throw new IOException("secret");
            })) {
      send(client, "GET / HTTP/1.1\r\nhost: h\r\nconnection: close\r\n\r\n");
      assertThat(rest(client)).startsWith("HTTP/1.1 500 ").doesNotContain("secret");
    }
  }

  @Test
  void aClientThatTricklesIsClosed() throws Exception {
    try (var client = connect(limits(SHORT, LONG, LONG), _ -> HttpAnswer.text(200, "never"))) {
      send(client, "GET / HTTP/1.1\r\nx: ");
      assertThat(rest(client)).isEmpty();
    }
  }

  @Test
  void aClientThatReadsNothingLosesItsConnection(@TempDir Path directory) throws Exception {
    var file = directory.resolve("large");
    Files.write(file, new byte[32 << 20]); // more than both sockets hold
    var asked = new CountDownLatch(1);
    try (var client =
        connect(
            limits(LONG, LONG, SHORT),
            _ -> {
              asked.countDown();
              return HttpAnswer.file(file);
            })) {
      send(client, "GET / HTTP/1.1\r\nhost: h\r\n\r\n");
      assertThat(asked.await(LONG.toSeconds(), TimeUnit.SECONDS)).isTrue();
      assertThat(running().open.newCloseFuture().await(LONG.toMillis())).isTrue();
      assertThat(read(client.getInputStream())).isLessThan(32 << 20);
    }
  }

  private static long read(InputStream in) {
    long read = 0;
    var chunk = new byte[1 << 16];
    try {
      for (int n = in.read(chunk); n >= 0; n = in.read(chunk)) {
        read += n;
      }
    } catch (IOException e) {
      return read; // reset
    }
    return read;
  }

  @Test
  void anAnswerThatTakesTooLongIsInterrupted() throws Exception {
    var interrupted = new CountDownLatch(1);
    try (var client = connect(limits(LONG, SHORT, LONG), waiting(interrupted))) {
      send(client, "GET / HTTP/1.1\r\nhost: h\r\n\r\n");
      assertThat(rest(client)).isEmpty();
      assertThat(interrupted.await(LONG.toSeconds(), TimeUnit.SECONDS)).isTrue();
    }
  }

  @Test
  void aClientThatHangsUpInterruptsItsHandler() throws Exception {
    var begun = new CountDownLatch(1);
    var interrupted = new CountDownLatch(1);
    var waiting = waiting(interrupted);
    try (var client =
        connect(
            patient(),
            call -> {
              begun.countDown();
              return waiting.answer(call);
            })) {
      send(client, "GET / HTTP/1.1\r\nhost: h\r\n\r\n");
      assertThat(begun.await(LONG.toSeconds(), TimeUnit.SECONDS)).isTrue();
    }
    assertThat(interrupted.await(LONG.toSeconds(), TimeUnit.SECONDS)).isTrue();
  }

  @Test
  void aFurtherConnectionTakesThePlaceOfTheOneThatWasIdleLongest() throws Exception {
    try (var first = connect(patient(), _ -> HttpAnswer.empty(204, Map.of()));
        var second = connect(running())) {
      for (var client : new Socket[] {second, first}) {
        send(client, "GET / HTTP/1.1\r\nhost: h\r\n\r\n");
        assertThat(client.getInputStream().readNBytes(4)).asString().isEqualTo("HTTP");
      }
      try (var third = connect(running())) {
        send(third, LAST.formatted("/"));
        assertThat(rest(third)).startsWith("HTTP/1.1 204 ");
        assertThat(rest(second)).endsWith("\r\n\r\n");
      }
    }
  }

  @Test
  void clientsThatAreSlowToAskDoNotKeepOthersOut() throws Exception {
    try (var first = connect(patient(), call -> HttpAnswer.text(200, call.path()));
        var second = connect(running())) {
      send(first, "GET / HTTP/1.1\r\nx: ");
      send(second, "POST / HTTP/1.1\r\ncontent-length: 4000\r\n\r\n");
      for (int i = 0; i < 5; i++) {
        try (var probe = connect(running())) {
          send(probe, LAST.formatted("/live"));
          assertThat(rest(probe)).as("probe %d", i).endsWith("\r\n\r\n/live");
        }
      }
    }
  }

  @Test
  void clientsThatAreSlowToReadDoNotKeepOthersOut(@TempDir Path directory) throws Exception {
    var file = directory.resolve("large");
    Files.write(file, new byte[32 << 20]); // more than both sockets hold
    HttpHandler handler =
        call -> call.path().equals("/live") ? HttpAnswer.text(200, "live") : HttpAnswer.file(file);
    try (var first = connect(patient(), handler);
        var second = connect(running())) {
      for (var client : new Socket[] {first, second}) {
        send(client, "GET /file HTTP/1.1\r\nhost: h\r\n\r\n");
        assertThat(client.getInputStream().read()).isEqualTo('H'); // the answer has started
      }
      try (var probe = connect(running())) {
        send(probe, LAST.formatted("/live"));
        assertThat(rest(probe)).endsWith("\r\n\r\nlive");
      }
    }
  }

  @Test
  void aConnectionIsClosedWhenAllOthersAreBeingAnswered() throws Exception {
    var interrupted = new CountDownLatch(1);
    var begun = new CountDownLatch(2);
    var waiting = waiting(interrupted);
    HttpHandler handler =
        call -> {
          begun.countDown();
          return waiting.answer(call);
        };
    try (var first = connect(patient(), handler);
        var second = connect(running())) {
      send(first, LAST.formatted("/"));
      send(second, LAST.formatted("/"));
      assertThat(begun.await(LONG.toSeconds(), TimeUnit.SECONDS)).isTrue();
      try (var third = connect(running())) {
        assertThat(third.getInputStream().read()).isEqualTo(-1);
      }
      assertThat(interrupted.getCount()).isEqualTo(1);
    }
  }

  @Test
  void bodiesTogetherAreBounded() throws Exception {
    var release = new CountDownLatch(1);
    var begun = new CountDownLatch(1);
    HttpHandler handler =
        call -> {
          begun.countDown();
          assertThat(release.await(LONG.toSeconds(), TimeUnit.SECONDS)).isTrue();
          return HttpAnswer.text(200, String.valueOf(call.body().length));
        };
    var post = "POST / HTTP/1.1\r\nhost: a\r\nconnection: close\r\ncontent-length: 4000\r\n\r\n";
    try (var first = connect(patient(), handler);
        var second = connect(running())) {
      send(first, post + "x".repeat(4000));
      assertThat(begun.await(LONG.toSeconds(), TimeUnit.SECONDS)).isTrue();
      send(second, post + "x".repeat(2500));
      assertThat(isClosed(second)).isTrue();
      release.countDown();
      assertThat(rest(first)).endsWith("\r\n\r\n4000");
    }
    try (var third = connect(running())) {
      send(third, post + "x".repeat(4000));
      assertThat(rest(third)).endsWith("\r\n\r\n4000");
    }
  }

  /** Whether the server closes the connection without an answer; waits for that. */
  private static boolean isClosed(Socket client) throws IOException {
    try {
      return client.getInputStream().read() == -1;
    } catch (SocketTimeoutException e) {
      return false;
    } catch (SocketException e) {
      return true; // reset, with unread bytes
    }
  }

  @Test
  void closingInterruptsHandlersAndFreesThePort() throws Exception {
    var begun = new CountDownLatch(1);
    var interrupted = new CountDownLatch(1);
    var waiting = waiting(interrupted);
    try (var client =
        connect(
            patient(),
            call -> {
              begun.countDown();
              return waiting.answer(call);
            })) {
      send(client, "GET / HTTP/1.1\r\nhost: h\r\n\r\n");
      assertThat(begun.await(LONG.toSeconds(), TimeUnit.SECONDS)).isTrue();
      running().close();
      assertThat(interrupted.await(LONG.toSeconds(), TimeUnit.SECONDS)).isTrue();
      try (var again = new HttpServer(LOOPS, running().address(), patient(), waiting)) {
        assertThat(again.address()).isEqualTo(running().address());
      }
    }
  }

  private static HttpHandler waiting(CountDownLatch interrupted) {
    return _ -> {
      try {
        Thread.sleep(LONG); // ended by the interrupt
      } catch (InterruptedException e) {
        interrupted.countDown();
        throw e;
      }
      return HttpAnswer.text(200, "late");
    };
  }

  private HttpServer running() {
    var at = server;
    if (at == null) {
      throw new AssertionError("no server was started");
    }
    return at;
  }
}
