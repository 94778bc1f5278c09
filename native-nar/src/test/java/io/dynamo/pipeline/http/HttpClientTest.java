package io.dynamo.pipeline.http;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import io.dynamo.pipeline.EventLoops;
import io.dynamo.pipeline.LoopThread;
import java.io.IOException;
import java.net.ConnectException;
import java.net.InetAddress;
import java.net.ServerSocket;
import java.net.Socket;
import java.net.URI;
import java.nio.charset.StandardCharsets;
import java.time.Duration;
import java.util.Map;
import java.util.Objects;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.ExecutionException;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.TimeoutException;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;

/** Asks a server whose part the test plays, over loopback sockets. */
@Timeout(60)
class HttpClientTest {
  /** Shared and never closed: closing takes seconds, and its threads are daemons. */
  private static final EventLoops LOOPS = new EventLoops(1);

  private static final Duration LONG = Duration.ofSeconds(20);
  private static final String STREAMED =
      """
      HTTP/1.1 200 OK\r
      server: s\r
      transfer-encoding: chunked\r
      \r
      6\r
      one
      tw\r
      8;x=1\r
      o
      three
      \r
      0\r
      \r
      """;
  private static final String WHOLE = "HTTP/1.1 200 OK\r\ncontent-length: 2\r\n\r\nok";

  private ServerSocket server;
  private HttpClient client;

  @BeforeEach
  void listen() throws IOException {
    server = new ServerSocket(0, 10, InetAddress.getLoopbackAddress());
    server.setSoTimeout((int) LONG.toMillis());
    client = client("127.0.0.1");
  }

  private HttpClient client(String host) {
    return new HttpClient(
        LOOPS, URI.create("http://%s:%d".formatted(host, server.getLocalPort())), null, LONG);
  }

  @AfterEach
  void close() throws IOException {
    client.close();
    server.close();
  }

  /** The answer to one request, or its failure. */
  private static final class HeardAnswer implements AnswerListener {
    private final CompletableFuture<String> begun = new CompletableFuture<>();
    private final CompletableFuture<String> text = new CompletableFuture<>();
    private final StringBuilder body = new StringBuilder();

    @Override
    public void begun(int status) {
      body.append(status).append(' ');
      begun.complete(Thread.currentThread().getName());
    }

    @Override
    public void content(byte[] bytes) {
      body.append(new String(bytes, StandardCharsets.UTF_8));
    }

    @Override
    public void ended() {
      text.complete(body.toString());
    }

    @Override
    public void failed(IOException cause) {
      begun.completeExceptionally(cause);
      text.completeExceptionally(cause);
    }

    String text() throws Exception {
      return text.get(LONG.toSeconds(), TimeUnit.SECONDS);
    }

    Throwable failure() throws InterruptedException {
      try {
        text.get(LONG.toSeconds(), TimeUnit.SECONDS);
      } catch (ExecutionException e) {
        return Objects.requireNonNull(e.getCause());
      } catch (TimeoutException e) {
        throw new AssertionError("nothing came", e);
      }
      throw new AssertionError("it ended: " + body);
    }
  }

  private static ClientRequest request(String method, boolean repeatable) {
    var body = "{}".getBytes(StandardCharsets.UTF_8);
    return new ClientRequest(method, "/path?q=1", Map.of("x-key", "k"), body, repeatable);
  }

  private static ClientRequest request(String method) {
    return request(method, false);
  }

  private HeardAnswer send(String method) {
    return send(request(method));
  }

  private HeardAnswer send(ClientRequest request) {
    var heard = new HeardAnswer();
    client.send(request, Integer.MAX_VALUE, heard);
    return heard;
  }

  private Socket accept() throws IOException {
    var socket = server.accept();
    socket.setSoTimeout((int) LONG.toMillis());
    socket.setTcpNoDelay(true);
    return socket;
  }

  /** Reads the head of a request, and its body, which has two bytes. */
  private static String read(Socket from) throws IOException {
    var head = new StringBuilder();
    while (head.indexOf("\r\n\r\n") < 0) {
      int next = from.getInputStream().read();
      if (next < 0) {
        return "";
      }
      head.append((char) next);
    }
    from.getInputStream().readNBytes(2);
    return head.toString();
  }

  private static void write(Socket to, String text) throws IOException {
    to.getOutputStream().write(text.getBytes(StandardCharsets.US_ASCII));
  }

  private static void end(Socket connection) throws IOException {
    connection.close();
  }

  @Test
  void answersMayBeCutAnywhereAndLeaveTheConnectionForTheNext() throws Exception {
    var first = send("POST");
    try (var connection = accept()) {
      var heard = first;
      for (int cut = 1; cut < STREAMED.length(); cut++) {
        assertThat(read(connection)).startsWith("POST /path?q=1 HTTP/1.1\r\n");
        write(connection, STREAMED.substring(0, cut));
        write(connection, STREAMED.substring(cut));
        assertThat(heard.text()).isEqualTo("200 one\ntwo\nthree\n");
        heard = send("POST");
      }
    }
  }

  @Test
  void requestsHaveHostLengthAndTheCallersHeaders() throws Exception {
    var heard = send("POST");
    try (var connection = accept()) {
      assertThat(read(connection).split("\r\n"))
          .contains("host: 127.0.0.1:" + server.getLocalPort(), "content-length: 2", "x-key: k");
      write(connection, WHOLE);
      assertThat(heard.text()).isEqualTo("200 ok");
    }
  }

  @Test
  void anAnswerIsReceivedOnTheLoopThatSentItsRequest() throws Exception {
    try (var loops = new EventLoops(4);
        var many =
            new HttpClient(
                loops, URI.create("http://127.0.0.1:" + server.getLocalPort()), null, LONG)) {
      for (int i = 0; i < 8; i++) {
        var heard = new HeardAnswer();
        var sender = new CompletableFuture<String>();
        LoopThread.near(loops)
            .execute(
                () -> {
                  sender.complete(Thread.currentThread().getName());
                  many.send(request("POST"), 1, heard);
                });
        try (var connection = accept()) {
          read(connection);
          write(connection, "HTTP/1.1 200 OK\r\nconnection: close\r\n\r\nok");
          assertThat(heard.begun.get(LONG.toSeconds(), TimeUnit.SECONDS))
              .isEqualTo(sender.get(LONG.toSeconds(), TimeUnit.SECONDS));
        }
      }
    }
  }

  @Test
  void messagesBeforeTheAnswerAreSkipped() throws Exception {
    var heard = send("POST");
    try (var connection = accept()) {
      read(connection);
      write(connection, "HTTP/1.1 103 Early Hints\r\nlink: x\r\n\r\n" + WHOLE);
      assertThat(heard.text()).isEqualTo("200 ok");
    }
  }

  @Test
  void aBodyWithoutLengthEndsWithTheConnection() throws Exception {
    var heard = send("POST");
    try (var connection = accept()) {
      read(connection);
      write(connection, "HTTP/1.1 500 Oh\r\n\r\nall");
    }
    assertThat(heard.text()).isEqualTo("500 all");
  }

  @ParameterizedTest
  @ValueSource(
      strings = {
        "",
        "HTTP/1.1 200 OK\r\n",
        "HTTP/1.1 200 OK\r\ncontent-length: 9\r\n\r\nok",
        "HTTP/1.1 200 OK\r\ntransfer-encoding: chunked\r\n\r\n2\r\nok\r\n",
        "SSH-2.0-x\r\n\r\n",
        "HTTP/1.1 200 OK\r\ntransfer-encoding: chunked\r\n\r\nzz\r\n"
      })
  void answersThatAreCutShortOrNoHttpFail(String answer) throws Exception {
    var heard = send("POST");
    try (var connection = accept()) {
      read(connection);
      write(connection, answer);
    }
    assertThat(heard.failure()).isInstanceOf(IOException.class);
  }

  @ParameterizedTest
  @ValueSource(strings = {"GET", "POST"})
  void aRepeatableRequestIsSentAgainWhenItsConnectionWasStale(String method) throws Exception {
    var first = send("GET");
    try (var connection = accept()) {
      read(connection);
      write(connection, WHOLE);
      assertThat(first.text()).isEqualTo("200 ok");
      var second = send(request(method, true));
      read(connection);
      end(connection);
      try (var another = accept()) {
        read(another);
        write(another, WHOLE);
        assertThat(second.text()).isEqualTo("200 ok");
      }
    }
  }

  @Test
  void otherRequestsAreNotSentAgain() throws Exception {
    var first = send("POST");
    try (var connection = accept()) {
      read(connection);
      write(connection, WHOLE);
      assertThat(first.text()).isEqualTo("200 ok");
      var second = send("POST");
      read(connection);
      end(connection);
      assertThat(second.failure()).isInstanceOf(IOException.class);
    }
  }

  @Test
  void cancellingClosesTheConnection() throws Exception {
    var heard = new HeardAnswer();
    var sent = client.send(request("POST"), Integer.MAX_VALUE, heard);
    try (var connection = accept()) {
      read(connection);
      write(connection, STREAMED.substring(0, STREAMED.length() - 10));
      heard.begun.get(LONG.toSeconds(), TimeUnit.SECONDS);
      sent.cancel();
      assertThat(connection.getInputStream().read()).isEqualTo(-1);
    }
  }

  @Test
  void leavingClosesTheConnectionOfAnAnswerThatGoesOn() throws Exception {
    var heard = new HeardAnswer();
    var sent = client.send(request("POST"), Integer.MAX_VALUE, heard);
    try (var connection = accept()) {
      read(connection);
      write(connection, "HTTP/1.1 200 OK\r\n\r\n");
      heard.begun.get(LONG.toSeconds(), TimeUnit.SECONDS);
      sent.leave();
      assertThat(connection.getInputStream().read()).isEqualTo(-1);
    }
  }

  @Test
  void failuresToConnectAreToldApart() throws Exception {
    try (var unknown = client("nobody.invalid")) {
      var heard = new HeardAnswer();
      unknown.send(request("GET"), 1, heard);
      assertThat(heard.failure())
          .isInstanceOf(ConnectException.class)
          .hasMessageContaining("nobody");
    }
    server.close();
    assertThat(send("GET").failure()).isInstanceOf(ConnectException.class);
  }

  @Test
  void closingFailsWhatRunsAndWhatFollows() throws Exception {
    var running = send("POST");
    try (var connection = accept()) {
      read(connection);
      client.close();
      assertThat(running.failure()).isInstanceOf(IOException.class);
      assertThat(connection.getInputStream().read()).isEqualTo(-1);
    }
    assertThat(send("GET").failure()).isInstanceOf(IOException.class);
  }

  @Test
  void targetsAreResolvedAgainstTheServer() {
    assertThat(client.target("/v1/x?y=%20z")).isEqualTo("/v1/x?y=%20z");
    assertThatThrownBy(() -> new HttpClient(LOOPS, URI.create("http:/x"), null, LONG))
        .isInstanceOf(IllegalArgumentException.class);
  }
}
