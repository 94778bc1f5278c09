package io.dynamo.it;

import static org.assertj.core.api.Assertions.assertThat;

import java.io.IOException;
import java.net.InetAddress;
import java.net.InetSocketAddress;
import java.net.Socket;
import java.nio.charset.StandardCharsets;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.Locale;
import java.util.regex.MatchResult;
import java.util.regex.Pattern;
import org.junit.jupiter.api.AfterAll;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeAll;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;
import org.junit.jupiter.params.provider.ValueSource;

/**
 * The container's pages ({@code /metrics}, {@code /health}), the worker's, and refusals of JAX-RS
 * obey the rules of all other routes, and nothing reaches the container's modules in another way.
 */
class ContainerPagesIT {
  private static final int CROWD = 100;

  /** Requests of one client of {@code /health}: their answers exceed what sockets buffer. */
  private static final int SMALL_REQUESTS = 2000;

  private static final int LARGE_REQUESTS = 40;
  private static final Duration PATIENCE = Duration.ofSeconds(60);

  /** A thread of the container's pool, with its stack. */
  private static final Pattern POOL_THREAD =
      Pattern.compile("(?m)^\"Default Executor-thread-[^\n]*\n(?:[^\"\n][^\n]*\n)*");

  /** The container's method that writes to a client and waits for it. */
  private static final String WRITING = "HttpServiceContextImpl.synchWrite";

  /** Threads of the pool that may be seen in a write that does not wait. */
  private static final int PASSING = 3;

  @SuppressWarnings("NullAway.Init") // before all
  private static ServerProcess server;

  private final List<Socket> opened = new ArrayList<>();

  @BeforeAll
  static void start() {
    server = ServerProcess.Plan.named("pages").start().awaitReady();
  }

  @AfterAll
  static void stop() {
    server.close();
  }

  @AfterEach
  void hangUp() throws IOException {
    for (var socket : opened) {
      socket.close();
    }
  }

  private Socket connect() throws IOException {
    var socket = new Socket();
    opened.add(socket);
    socket.setSoTimeout((int) PATIENCE.toMillis());
    socket.setReceiveBufferSize(4096);
    socket.connect(new InetSocketAddress(InetAddress.getLoopbackAddress(), server.port()), 10_000);
    return socket;
  }

  private static String head(String method, String target, String... headers) {
    return "%s %s HTTP/1.1\r\n%s\r\n\r\n"
        .formatted(method, target, headers.length == 0 ? "Host: a" : String.join("\r\n", headers));
  }

  /** Sends one request, and returns all that comes until the server closes the connection. */
  private String ask(String method, String target, String... headers) throws IOException {
    var all = new ArrayList<>(List.of(headers));
    all.add("Connection: close");
    if (all.stream().noneMatch(header -> header.startsWith("Host:"))) {
      all.add("Host: localhost");
    }
    try (var socket = connect()) {
      var text = head(method, target, all.toArray(String[]::new));
      socket.getOutputStream().write(text.getBytes(StandardCharsets.US_ASCII));
      return new String(socket.getInputStream().readAllBytes(), StandardCharsets.UTF_8);
    }
  }

  @ParameterizedTest
  @ValueSource(
      strings = {
        "/metrics",
        "/metrics?scope=base",
        "/metrics/nowhere",
        "/health",
        "/health/live",
        "/health/ready",
        "/health/started",
        "/health/nowhere",
        "/worker/status",
        "/worker/nowhere",
        "/live",
        "/v1/models",
        "/v1/models/none",
        "/v1/nowhere",
        "/v1//models",
        "/v1/chat/completions",
        "/busy_threshold",
        "/router/explain",
        "/console",
        "/console/data/failures",
        "/openapi.json",
        "/openapi",
        "/openapi/ui",
        "/openapi/nowhere",
        "/docs",
        "/docs/swagger-ui-bundle.js",
        "/",
        "/nowhere"
      })
  void everyRouteReturnsTheRequestsId(String path) throws IOException {
    var answer = ask("GET", path, "x-request-id: id-7");
    assertThat(answer).startsWith("HTTP/1.1 ").doesNotStartWith("HTTP/1.1 5");
    assertThat(answer.lines().takeWhile(line -> !line.isEmpty()))
        .filteredOn(line -> line.toLowerCase(Locale.ROOT).startsWith("x-request-id:"))
        .containsExactly("x-request-id: id-7");
  }

  @ParameterizedTest
  @CsvSource({
    "/metrics, text/plain, # TYPE dynamo_frontend_requests_total counter",
    "/metrics?scope=base, text/plain, thread_count{",
    "/metrics?scope=base&name=thread.count, text/plain, thread_count{",
    "/health, application/json, '\"status\":\"UP\"'",
    "/health/live, application/json, '\"status\":\"UP\"'",
    "/health/ready, application/json, '\"name\":\"worker\"'",
    "/health/started, application/json, '\"status\":\"UP\"'",
    "/worker/status, application/json, '\"state\":\"serving\"'",
  })
  void eachPageHasItsTypeAndTextAndItsHeadAlone(String path, String type, String text)
      throws IOException {
    ask("POST", "/v1/chat/completions", "Content-Length: 0"); // counts as one request
    assertThat(ask("GET", path))
        .startsWith("HTTP/1.1 200 ")
        .contains("Content-Type: " + type, text);
    var head = ask("HEAD", path);
    assertThat(head)
        .startsWith("HTTP/1.1 200 ")
        .contains("Content-Type: " + type)
        .endsWith("\r\n\r\n");
    assertThat(head.indexOf("\r\n\r\n")).isEqualTo(head.length() - 4);
  }

  @ParameterizedTest
  @CsvSource({
    "POST, /metrics, 405",
    "DELETE, /health, 405",
    "OPTIONS, /health/live, 405",
    "GET, /worker/drain, 405",
    "GET, /metrics/base, 404",
    "GET, /metrics?scope=a%0Ab, 404",
    "GET, /metrics?scope=unknown, 404",
    "GET, /health/nowhere, 404",
    "GET, /health/..;/metrics, 40",
    "GET, /ibm/api, 404",
    "GET, /worker, 404",
  })
  void unknownPagesAreRefused(String method, String target, String status) throws IOException {
    assertThat(ask(method, target)).startsWith("HTTP/1.1 " + status).doesNotContain("SRVE");
  }

  @ParameterizedTest
  @CsvSource({
    "/metrics, Host: inner.invalid:1",
    "http://inner.invalid:1/metrics, Host: inner.invalid:1",
    "/health, Host: inner.invalid:1",
    "/status, Host: inner.invalid:1",
    "/worker/status, Host: inner.invalid:1",
  })
  void noHostNameLeadsToTheModulesThemselves(String target, String host) throws IOException {
    assertThat(ask("GET", target, host))
        .startsWith("HTTP/1.1 404 ")
        .doesNotContain("mp_scope", "\"checks\"", "\"state\"");
  }

  @ParameterizedTest
  @CsvSource({
    "GET, /worker/status, Origin: http://localhost",
    "POST, /worker/drain, Origin: http://localhost",
    "POST, /worker/drain, Sec-Fetch-Site: cross-site",
    "POST, /worker/drain, Host: attacker.example",
    "POST, /worker/drain, X-Forwarded-For: 127.0.0.1",
  })
  void theWorkersRoutesStayAdministrative(String method, String target, String header)
      throws IOException {
    assertThat(ask(method, target, header)).startsWith("HTTP/1.1 403 ");
    assertThat(ask("GET", "/worker/status")).contains("\"state\":\"serving\"");
  }

  @Test
  void aHeadThatIsAmbiguousOrTooLargeIsRefusedAsEverywhere() throws IOException {
    for (var path : List.of("/metrics", "/health", "/live", "/openapi", "/docs")) {
      assertThat(ask("GET", path, "Host: a", "Host: b")).as(path).startsWith("HTTP/1.1 400 ");
      assertThat(ask("GET", path, "X-Note: " + "x".repeat(40_000)))
          .as(path)
          .startsWith("HTTP/1.1 400 ");
    }
  }

  @Test
  void clientsThatDoNotReadPagesHoldNoThreadOfThePool() throws Exception {
    fill("/metrics", LARGE_REQUESTS);
    fill("/health", SMALL_REQUESTS);
    fill("/v1/nowhere", SMALL_REQUESTS); // refused by JAX-RS
    fill("/tokenize", SMALL_REQUESTS); // refused by a servlet
    fill("/openapi", LARGE_REQUESTS);
    try (var chat = server.chat(ChatClient.body(Cluster.MODEL, "Hello", 4, false))) {
      assertThat(chat.status()).isEqualTo(200);
    }
    Polling.until(
        "every client has an answer to read",
        PATIENCE,
        () -> {
          assertThat(poolThreadsThatWrite()).hasSizeLessThanOrEqualTo(PASSING);
          for (var socket : opened) {
            if (socket.getInputStream().available() == 0) {
              return false;
            }
          }
          return true;
        });
    for (int i = 0; i < 5; i++) { // now that every client has been served
      assertThat(poolThreadsThatWrite()).hasSizeLessThanOrEqualTo(PASSING);
    }
    assertThat(ask("GET", "/metrics")).startsWith("HTTP/1.1 200 ");
  }

  private static List<String> poolThreadsThatWrite() throws Exception {
    var all = POOL_THREAD.matcher(JvmCensus.jcmd(server.java().pid(), "Thread.print"));
    var stacks = all.results().map(MatchResult::group).toList();
    assertThat(stacks).as("threads of the pool").isNotEmpty();
    return stacks.stream().filter(stack -> stack.contains(WRITING)).toList();
  }

  /** Has many clients ask for more than they can be sent, and read nothing. */
  private void fill(String path, int requests) throws IOException {
    var text = head("GET", path).repeat(requests).getBytes(StandardCharsets.US_ASCII);
    for (int i = 0; i < CROWD; i++) {
      var socket = connect();
      Thread.ofVirtual() // the server may stop reading, too
          .start(
              () -> {
                try {
                  socket.getOutputStream().write(text);
                } catch (IOException closed) {
                  // at the end of the test
                }
              });
    }
  }

  @Test
  void clientsThatLeaveInTheMiddleOfAPageLeaveNothingBehind() throws Exception {
    for (int i = 0; i < CROWD; i++) {
      try (var socket = connect()) {
        socket.setSoLinger(true, 0); // resets the connection
        socket
            .getOutputStream()
            .write(head("GET", "/metrics").repeat(3).getBytes(StandardCharsets.US_ASCII));
        assertThat(socket.getInputStream().read()).isNotNegative();
      }
    }
    assertThat(ask("GET", "/health")).startsWith("HTTP/1.1 200 ");
    assertThat(server.messages()).doesNotContain("failed unexpectedly", "leak detected");
  }
}
