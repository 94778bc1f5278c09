package io.dynamo.it;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import com.fasterxml.jackson.databind.ObjectMapper;
import com.sun.net.httpserver.HttpExchange;
import com.sun.net.httpserver.HttpServer;
import java.io.IOException;
import java.net.InetAddress;
import java.net.InetSocketAddress;
import java.nio.charset.StandardCharsets;
import java.util.concurrent.ExecutionException;
import java.util.concurrent.atomic.AtomicInteger;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.EnumSource;

/** Each way in which a frontend can spoil one answer among whole ones fails the load of clients. */
@Timeout(30) // far below the load's own limits: it fails at once
class BalancedLoadIT {
  private static final ObjectMapper JSON = new ObjectMapper();
  private static final int WHOLE = 2; // answers before the spoilt one
  private static final int TOKENS = 40; // as the load asks

  /** How an answer is spoilt. */
  enum Fault {
    NO_ANSWER,
    REFUSED,
    NO_END,
    SHORTER,
    OF_ANOTHER
  }

  @SuppressWarnings("NullAway.Init") // before each
  private HttpServer frontend;

  @SuppressWarnings("NullAway.Init") // before each
  private OracleText oracle;

  private final AtomicInteger asked = new AtomicInteger();

  @BeforeEach
  void readModel() throws IOException {
    oracle = OracleText.ofShippedModel();
    frontend = HttpServer.create(new InetSocketAddress(InetAddress.getLoopbackAddress(), 0), 0);
  }

  @AfterEach
  void stopFrontend() {
    frontend.stop(0);
  }

  private int serve(Fault fault) {
    frontend.createContext(
        "/",
        exchange -> {
          try (exchange) {
            if (asked.getAndIncrement() == WHOLE) {
              spoil(exchange, fault);
            } else {
              send(exchange, 200, events(oracle.answer(number(exchange), TOKENS)) + end());
            }
          }
        });
    frontend.start();
    return frontend.getAddress().getPort();
  }

  private void spoil(HttpExchange exchange, Fault fault) throws IOException {
    int number = number(exchange);
    var text = oracle.answer(number, TOKENS);
    switch (fault) {
      case NO_ANSWER -> {} // closed without a status
      case REFUSED -> send(exchange, 503, "{}");
      case NO_END -> send(exchange, 200, events(text));
      case SHORTER -> send(exchange, 200, events(oracle.answer(number, TOKENS - 1)) + end());
      case OF_ANOTHER -> send(exchange, 200, events(oracle.answer(number + 1, TOKENS)) + end());
    }
  }

  private static int number(HttpExchange exchange) throws IOException {
    var prompt = JSON.readTree(exchange.getRequestBody()).at("/messages/0/content").textValue();
    return Integer.parseInt(prompt.substring(prompt.lastIndexOf(' ') + 1));
  }

  private static String events(String text) {
    var frame = JSON.createObjectNode();
    frame.putArray("choices").addObject().putObject("delta").put("content", text);
    return "data: " + frame + "\n\n";
  }

  private static String end() {
    return "data: [DONE]\n\n";
  }

  private static void send(HttpExchange exchange, int status, String body) throws IOException {
    exchange.getResponseHeaders().set("Content-Type", "text/event-stream");
    exchange.sendResponseHeaders(status, 0); // chunked
    exchange.getResponseBody().write(body.getBytes(StandardCharsets.UTF_8));
    exchange.getResponseBody().close();
  }

  @ParameterizedTest
  @EnumSource
  void oneSpoiltAnswerFailsTheLoadAtOnce(Fault fault) throws Exception {
    try (var load = new BalancedLoad(1, serve(fault))) {
      assertThatThrownBy(() -> load.awaitMore(1_000_000))
          .isInstanceOf(AssertionError.class)
          .hasMessage("a client of the load failed");
      assertThatThrownBy(load::end).isInstanceOf(ExecutionException.class);
      assertThat(asked).as("answers, of which the last is spoilt").hasValue(WHOLE + 1);
    }
  }

  @Test
  void wholeAnswersAreCounted() throws Exception {
    asked.set(WHOLE + 1); // past the spoilt one
    try (var load = new BalancedLoad(4, serve(Fault.NO_ANSWER))) {
      load.awaitMore(20);
      assertThat(load.end()).isGreaterThanOrEqualTo(20);
    }
  }
}
