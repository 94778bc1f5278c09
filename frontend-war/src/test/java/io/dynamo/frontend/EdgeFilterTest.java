package io.dynamo.frontend;

import static org.assertj.core.api.Assertions.assertThat;

import io.dynamo.metrics.Label;
import io.dynamo.metrics.Metrics;
import jakarta.servlet.ServletOutputStream;
import jakarta.servlet.WriteListener;
import jakarta.servlet.http.HttpServletRequest;
import jakarta.servlet.http.HttpServletResponse;
import java.io.ByteArrayOutputStream;
import java.lang.reflect.Proxy;
import java.nio.charset.StandardCharsets;
import java.util.ArrayList;
import java.util.Collections;
import java.util.HashMap;
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
  private final Map<String, List<String>> asked = new LinkedHashMap<>();
  private final Map<String, String> told = new HashMap<>();
  private final ByteArrayOutputStream body = new ByteArrayOutputStream();
  private AdminRoutes admin = new AdminRoutes(false, false, List.of("admin.internal"));
  private String caller = "127.0.0.1";
  private @Nullable String server; // what the container takes for the host
  private int status = 200;
  private boolean passed;

  private void header(String name, String value) {
    asked.computeIfAbsent(name, _ -> new ArrayList<>()).add(value);
  }

  private void ask(String path, String servletPath) throws Exception {
    var host = asked.getOrDefault("Host", List.of("none")).getFirst();
    var name = server == null ? host.replaceFirst(":[0-9]*$", "") : server;
    var request =
        (HttpServletRequest)
            Proxy.newProxyInstance(
                getClass().getClassLoader(),
                new Class<?>[] {HttpServletRequest.class},
                (_, method, arguments) ->
                    switch (method.getName()) {
                      case "getMethod" -> "GET";
                      case "getProtocol" -> "HTTP/1.1";
                      case "getRequestURI" -> path;
                      case "getServletPath" -> servletPath;
                      case "getRemoteAddr" -> caller;
                      case "getServerName" -> name;
                      case "getHeaderNames" -> Collections.enumeration(asked.keySet());
                      case "getHeaders" ->
                          Collections.enumeration(
                              asked.getOrDefault((String) arguments[0], List.of()));
                      case "getAttribute" -> null;
                      default -> throw new AssertionError(method.getName());
                    });
    new EdgeFilter(new FailureMeters(metrics), admin)
        .doFilter(request, response(), (_, _) -> passed = true);
  }

  private HttpServletResponse response() {
    var stream =
        new ServletOutputStream() {
          @Override
          public boolean isReady() {
            return true;
          }

          @Override
          public void setWriteListener(WriteListener listener) {}

          @Override
          public void write(int b) {
            body.write(b);
          }
        };
    return (HttpServletResponse)
        Proxy.newProxyInstance(
            getClass().getClassLoader(),
            new Class<?>[] {HttpServletResponse.class},
            (_, method, arguments) ->
                switch (method.getName()) {
                  case "setStatus" -> {
                    status = (Integer) arguments[0];
                    yield null;
                  }
                  case "getStatus" -> status;
                  case "isCommitted" -> true; // the connection is the container's
                  case "setHeader" -> told.put((String) arguments[0], (String) arguments[1]);
                  case "getOutputStream" -> stream;
                  default -> null;
                });
  }

  private String text() {
    return body.toString(StandardCharsets.UTF_8);
  }

  @Test
  void anOrdinaryRequestPassesAndGetsItsIdBack() throws Exception {
    header("Host", "localhost:8000");
    header("x-request-id", "mine");
    ask("/v1/models", "/v1");
    assertThat(passed).isTrue();
    assertThat(told).containsExactly(Map.entry("x-request-id", "mine"));
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
    assertThat(status).isEqualTo(expected);
    assertThat(told).containsEntry("Connection", "close");
    assertThat(
            metrics
                .counter(
                    FrontendMetrics.FAILURES,
                    new Label("class", expected == 501 ? "NotImplemented" : "InvalidRequest"),
                    new Label(
                        "reason", expected == 501 ? "runtime.not_implemented" : "request.invalid"))
                .value())
        .isEqualTo(1);
  }

  @Test
  void anAddressThatIsAskedUnderAnotherHostIsRefused() throws Exception {
    header("Host", "attacker.example");
    server = "localhost"; // as of GET http://localhost/v1/models
    ask("/v1/models", "/v1");
    assertThat(passed).isFalse();
    assertThat(status).isEqualTo(400);
  }

  @Test
  void anUncleanRequestIdIsNotRepeated() throws Exception {
    header("Host", "localhost");
    header("x-request-id", "a\u0085b");
    ask("/v1/models", "/v1");
    assertThat(passed).isTrue();
    assertThat(told).isEmpty();
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
    assertThat(status).isEqualTo(404);
    assertThat(text()).contains("Route not found: GET " + path);
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
      assertThat(status).isEqualTo(403);
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
}
