package io.dynamo.it;

import static org.assertj.core.api.Assertions.assertThat;

import com.fasterxml.jackson.databind.JsonNode;
import com.fasterxml.jackson.databind.ObjectMapper;
import java.io.IOException;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import java.util.TreeMap;
import java.util.regex.Pattern;

/**
 * Clients that reset their connections within an answer of seconds: what the worker sees of it and
 * how the metrics move, compared with Dynamo 1.6.1.
 */
final class CapturedDisconnects {
  private static final ObjectMapper JSON = new ObjectMapper();
  private static final Duration LIMIT = Duration.ofSeconds(30);
  private static final String CANCELLED = "CANCELLED script killed";

  /** A series of the exposition: its name, and its labels between braces. */
  private static final Pattern SERIES = Pattern.compile("(\\w+)(?:\\{(.*)})?");

  private final ServerProcess server;
  private final CapturedFleet workers;

  CapturedDisconnects(ServerProcess server, CapturedFleet workers) {
    this.server = server;
    this.workers = workers;
  }

  /** The names of the captured cases, such as {@code chat_stream}. */
  static List<String> names() throws IOException {
    return cases().propertyStream().map(Map.Entry::getKey).toList();
  }

  private static JsonNode cases() throws IOException {
    return Transcript.file("disconnect").get(0).get("cases");
  }

  void compare(String name) throws Exception {
    var captured = cases().get(name);
    var running = series(captured.get("during"));
    var ended = series(captured.get("after"));
    Polling.until("no other request runs", LIMIT, () -> isIdle(running));
    var before = values(running);
    before.putAll(values(ended));
    int cancelled = cancelled();

    var route = name.substring(0, name.indexOf('_'));
    try (var client =
        ChatClient.post(server.port(), path(route), body(route, name.endsWith("_stream")))) {
      Polling.until("it counts as running", LIMIT, () -> moved(before, running));
      client.reset();
    }

    Polling.until("the worker is told", LIMIT, () -> cancelled() == cancelled + 1);
    Polling.until("it counts as cancelled", LIMIT, () -> moved(before, ended));
    Polling.until("no longer as running", LIMIT, () -> isIdle(running));
  }

  private boolean isIdle(List<String> running) throws Exception {
    return values(running).values().stream().allMatch(value -> value == 0);
  }

  private static String path(String route) {
    return route.equals("chat") ? "/v1/chat/completions" : "/v1/" + route;
  }

  private static String body(String route, boolean stream) throws IOException {
    var body = JSON.createObjectNode().put("model", "script").put("stream", stream);
    switch (route) {
      case "completions" -> body.put("prompt", CapturedFleet.SLOW);
      case "responses" -> body.put("input", CapturedFleet.SLOW);
      default -> {
        body.put("max_tokens", 100);
        var message = body.putArray("messages").addObject();
        message.put("role", "user").put("content", CapturedFleet.SLOW);
      }
    }
    return JSON.writeValueAsString(body);
  }

  private int cancelled() {
    return workers.console().split(CANCELLED, -1).length;
  }

  /** The series that move by one, of those that name no worker. */
  private static List<String> series(JsonNode moves) {
    var series = new ArrayList<String>();
    for (var move : moves.properties()) {
      assertThat(move.getValue().get(1).asInt()).isEqualTo(move.getValue().get(0).asInt() + 1);
      if (!move.getKey().contains("worker_id")) {
        // Dynamo counts a Message that nobody reads as answered; here it is cancelled as all others
        series.add(
            move.getKey()
                .replace(
                    "error_type=\"\",model=\"script\",request_type=\"unary\",status=\"success\"",
                    "error_type=\"cancelled\",model=\"script\",request_type=\"unary\",status=\"error\""));
      }
    }
    return series;
  }

  private Map<String, Long> values(List<String> series) throws Exception {
    var values = new TreeMap<String, Long>();
    for (var each : series) {
      var parts = SERIES.matcher(each);
      assertThat(parts.matches()).as(each).isTrue();
      var labels = parts.group(2) == null ? "" : parts.group(2);
      values.put(each, ServerFacts.metric(server, parts.group(1), labels.split(",", 0)));
    }
    return values;
  }

  private boolean moved(Map<String, Long> before, List<String> series) throws Exception {
    var expected = only(before, series);
    expected.replaceAll((_, value) -> value + 1);
    var now = values(series);
    if (!now.equals(expected)) {
      throw new IllegalStateException(now + " is not " + expected);
    }
    return true;
  }

  private static Map<String, Long> only(Map<String, Long> values, List<String> series) {
    var some = new TreeMap<>(values);
    some.keySet().retainAll(series);
    return some;
  }
}
