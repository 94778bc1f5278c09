package io.dynamo.frontend;

import static org.assertj.core.api.Assertions.assertThat;

import io.dynamo.config.frontend.RouteSettings;
import io.dynamo.metrics.Label;
import io.dynamo.metrics.Metrics;
import jakarta.servlet.FilterChain;
import jakarta.servlet.http.HttpServletRequest;
import jakarta.servlet.http.HttpServletResponse;
import java.nio.charset.StandardCharsets;
import java.util.ArrayList;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import org.jspecify.annotations.Nullable;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;
import org.junit.jupiter.params.provider.ValueSource;

class EdgeFilterTest {
  private final Metrics metrics = new Metrics();
  private final Map<String, List<String>> headers = new LinkedHashMap<>();
  private AdminRoutes admin = new AdminRoutes(false, false, List.of("admin.internal"));
  private String caller = "127.0.0.1";
  private @Nullable String server; // what the container takes for the host
  private FakeExchange exchange = new FakeExchange("GET", "/");
  private boolean passed;

  private void header(String name, String value) {
    headers.computeIfAbsent(name, _ -> new ArrayList<>()).add(value);
  }

  private void ask(String path, String servletPath) throws Exception {
    ask(path, servletPath, (_, _) -> passed = true);
  }

  private void ask(String path, String servletPath, FilterChain chain) throws Exception {
    var host = headers.getOrDefault("Host", List.of("none")).getFirst();
    exchange =
        new FakeExchange("GET", path)
            .with("getServletPath", servletPath)
            .with("getRemoteAddr", caller)
            .with("getServerName", server == null ? host.replaceFirst(":[0-9]*$", "") : server);
    headers.forEach((name, values) -> values.forEach(value -> exchange.withHeader(name, value)));
    new EdgeFilter(new FailureMeters(metrics), admin, new RoutePaths(RouteSettings.STANDARD))
        .doFilter(exchange.request(), exchange.response(), chain);
  }

  private long failures(String type, String reason) {
    return metrics
        .counter(FrontendMetrics.FAILURES, new Label("class", type), new Label("reason", reason))
        .value();
  }

  @Test
  void aRequestThatWasTakenOverIsNotTouchedAfterTheChain() throws Exception {
    header("Host", "localhost");
    ask(
        "/v1/models",
        "/v1",
        (request, response) -> {
          CountingMark.take((HttpServletRequest) request);
          ((HttpServletResponse) response).setStatus(503);
          exchange.recycle(); // answered on another thread, and the objects given to a new request
        });
    assertThat(failures("Internal", "runtime.internal")).isZero();
  }

  @Test
  void aSynchronousFailureIsCountedAtTheEdge() throws Exception {
    header("Host", "localhost");
    FilterChain answer = (_, response) -> ((HttpServletResponse) response).setStatus(404);
    ask("/nowhere", "/", answer);
    assertThat(failures("NotFound", "request.not_found")).isEqualTo(1);
    ask("/live", "/live", answer);
    assertThat(failures("NotFound", "request.not_found")).as("a probe is no failure").isEqualTo(1);
  }

  @Test
  void anOrdinaryRequestPassesAndGetsItsIdBack() throws Exception {
    header("Host", "localhost:8000");
    header("x-request-id", "mine");
    ask("/v1/models", "/v1");
    assertThat(passed).isTrue();
    assertThat(exchange.headers()).containsExactly(Map.entry("x-request-id", "mine"));
  }

  @ParameterizedTest
  @CsvSource({
    "Content-Length, 5, Content-Length, 5, 400",
    "Content-Length, 5, Transfer-Encoding, xchunked, 400",
    "Transfer-Encoding, gzip, Transfer-Encoding, chunked, 501",
    "Host, localhost, Host, other, 400",
    "X-Note, a\u0000b, Accept, x, 400",
  })
  void headsThatCanBeReadInTwoWaysAreRefusedAndTheirConnectionEnds(
      String one, String value, String other, String second, int expected) throws Exception {
    if (!one.equals("Host")) {
      header("Host", "localhost");
    }
    header(one, value);
    header(other, second);
    ask("/v1/models", "/v1");
    assertThat(passed).isFalse();
    assertThat(exchange.status()).isEqualTo(expected);
    assertThat(exchange.headers()).containsEntry("Connection", "close");
    assertThat(
            expected == 501
                ? failures("NotImplemented", "runtime.not_implemented")
                : failures("InvalidRequest", "request.invalid"))
        .isEqualTo(1);
  }

  @Test
  void jaxRsAnswersAreWrittenOffTheContainersThread() throws Exception {
    header("Host", "localhost");
    ask(
        "/v1/nowhere",
        "/v1",
        (_, response) -> {
          var answer = (HttpServletResponse) response;
          answer.setStatus(404);
          answer.getOutputStream().write("no route".getBytes(StandardCharsets.US_ASCII));
          answer.flushBuffer();
          assertThat(exchange.text()).as("on the container's thread").isEmpty();
        });
    assertThat(exchange.text()).isEqualTo("no route");
    assertThat(failures("NotFound", "request.not_found")).isEqualTo(1);
  }

  @Test
  void answersOfTakenRequestsAreWrittenAtOnce() throws Exception {
    header("Host", "localhost");
    ask(
        "/v1/models",
        "/v1",
        (request, response) -> {
          CountingMark.take((HttpServletRequest) request);
          response.getOutputStream().write("models".getBytes(StandardCharsets.US_ASCII));
          assertThat(exchange.text()).isEqualTo("models");
          exchange.recycle();
        });
  }

  @Test
  void aRequestLineWithAnotherHostIsRefused() throws Exception {
    header("Host", "attacker.example");
    server = "localhost"; // as of GET http://localhost/v1/models
    ask("/v1/models", "/v1");
    assertThat(passed).isFalse();
    assertThat(exchange.status()).isEqualTo(400);
  }

  @Test
  void anUncleanRequestIdIsNotRepeated() throws Exception {
    header("Host", "localhost");
    header("x-request-id", "a\u0085b");
    ask("/v1/models", "/v1");
    assertThat(passed).isTrue();
    assertThat(exchange.headers()).isEmpty();
  }

  @ParameterizedTest
  @ValueSource(strings = {AdminRoutes.THRESHOLDS, AdminRoutes.EXPLANATIONS})
  void administrativeRoutesAreForCommandsOnThisMachine(String path) throws Exception {
    header("Host", "127.0.0.1:8000");
    ask(path, path);
    assertThat(passed).isTrue();
    passed = false;
    caller = "192.0.2.7";
    ask(path, path);
    assertThat(passed).isFalse();
    assertThat(exchange.status()).isEqualTo(404);
    assertThat(exchange.text()).contains("Route not found: GET " + path);
  }

  @ParameterizedTest
  @CsvSource({
    "attacker.example:8000, Accept, x",
    "localhost, Origin, http://localhost:3000",
    "localhost, X-Forwarded-For, 10.0.0.9",
  })
  void administrativeRoutesAreNotForPagesAndProxies(String host, String name, String value)
      throws Exception {
    header("Host", host);
    header(name, value);
    for (var path : List.of(AdminRoutes.THRESHOLDS, AdminRoutes.EXPLANATIONS)) {
      ask(path, path);
      assertThat(passed).isFalse();
      assertThat(exchange.status()).isEqualTo(403);
    }
    ask("/v1/models", "/v1");
    assertThat(passed).as("routes for everybody are open").isTrue();
  }

  @Test
  void eachRouteIsOpenedForItself() throws Exception {
    admin = new AdminRoutes(false, true, List.of());
    caller = "192.0.2.7";
    header("Host", "192.0.2.1");
    ask("/router/explain/r1", AdminRoutes.EXPLANATIONS);
    assertThat(passed).isTrue();
    passed = false;
    ask(AdminRoutes.THRESHOLDS, AdminRoutes.THRESHOLDS);
    assertThat(passed).isFalse();
  }

  @ParameterizedTest
  @ValueSource(strings = {AdminRoutes.CONSOLE, AdminRoutes.CONSOLE_DATA})
  void theConsoleIsForAdministratorsAndItsOwnPages(String path) throws Exception {
    header("Host", "127.0.0.1:8000");
    header("Sec-Fetch-Site", "same-origin");
    ask(path + "/x", path);
    assertThat(passed).isTrue();
    passed = false;
    caller = "192.0.2.7";
    ask(path + "/x", path);
    assertThat(passed).isFalse();
    assertThat(exchange.status()).isEqualTo(404);
    caller = "127.0.0.1";
    headers.put("Host", List.of("attacker.example:8000"));
    ask(path + "/x", path);
    assertThat(passed).isFalse();
    assertThat(exchange.status()).isEqualTo(403);
  }
}
