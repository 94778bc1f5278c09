package io.dynamo.worker.wiring;

import static org.assertj.core.api.Assertions.assertThat;

import io.dynamo.runtime.guard.AdminGuard;
import jakarta.servlet.ServletOutputStream;
import jakarta.servlet.WriteListener;
import jakarta.servlet.http.HttpServletRequest;
import jakarta.servlet.http.HttpServletResponse;
import java.lang.reflect.Proxy;
import java.util.Collections;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;

class AdminFilterTest {
  private final Map<String, String> sentHeaders = new HashMap<>();
  private int status = 200;
  private boolean passed;

  /**
   * @param server the host name that the container reports for the request
   */
  private void ask(String caller, String server, Map<String, String> headers) throws Exception {
    var request =
        (HttpServletRequest)
            Proxy.newProxyInstance(
                getClass().getClassLoader(),
                new Class<?>[] {HttpServletRequest.class},
                (_, method, arguments) ->
                    switch (method.getName()) {
                      case "getMethod" -> "POST";
                      case "getProtocol" -> "HTTP/1.1";
                      case "getRemoteAddr" -> caller;
                      case "getServerName" -> server;
                      case "getHeaderNames" -> Collections.enumeration(headers.keySet());
                      case "getHeaders" ->
                          Collections.enumeration(
                              List.of(String.valueOf(headers.get((String) arguments[0]))));
                      default -> throw new AssertionError(method.getName());
                    });
    new AdminFilter(new AdminGuard(false, List.of()))
        .doFilter(request, response(), (_, _) -> passed = true);
  }

  private HttpServletResponse response() {
    var nowhere =
        new ServletOutputStream() {
          @Override
          public boolean isReady() {
            return true;
          }

          @Override
          public void setWriteListener(WriteListener listener) {}

          @Override
          public void write(int b) {}
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
                  case "setHeader" -> sentHeaders.put((String) arguments[0], (String) arguments[1]);
                  case "getOutputStream" -> nowhere;
                  default -> null;
                });
  }

  @Test
  void aCommandOnThisMachinePassesAndGetsItsIdBack() throws Exception {
    ask("127.0.0.1", "localhost", Map.of("Host", "localhost:8000", "X-Request-Id", "mine"));
    assertThat(passed).isTrue();
    assertThat(sentHeaders).containsExactly(Map.entry("x-request-id", "mine"));
  }

  @ParameterizedTest
  @CsvSource({
    "10.0.0.7, localhost, localhost, Accept, 404",
    "127.0.0.1, attacker.example, attacker.example, Accept, 403",
    "127.0.0.1, localhost, attacker.example, Accept, 400", // the container uses another header
    "127.0.0.1, localhost, localhost, Origin, 403",
    "127.0.0.1, localhost, localhost, X-Forwarded-For, 403",
  })
  void foreignRequestsAreRefused(
      String caller, String server, String host, String header, int expected) throws Exception {
    ask(caller, server, Map.of("Host", host, header, "x"));
    assertThat(passed).isFalse();
    assertThat(status).isEqualTo(expected);
  }
}
