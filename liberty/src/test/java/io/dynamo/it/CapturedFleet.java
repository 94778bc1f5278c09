package io.dynamo.it;

import static org.assertj.core.api.Assertions.assertThat;

import com.fasterxml.jackson.databind.JsonNode;
import com.fasterxml.jackson.databind.ObjectMapper;
import java.io.IOException;
import java.net.http.HttpClient;
import java.net.http.HttpResponse;
import java.nio.charset.StandardCharsets;
import java.nio.file.Path;
import java.time.Duration;
import java.util.HashSet;
import java.util.List;
import java.util.Map;
import java.util.TreeMap;
import org.jspecify.annotations.Nullable;

/**
 * The workers of the captures, on NVIDIA's own runtime, and frontends of ours before them. Answers
 * are compared with the captured ones; where ours differ by intent, {@code
 * captured-deviations.json} says how and why: no other answer may differ, and each of those must.
 */
final class CapturedFleet implements AutoCloseable {
  private static final Duration LIMIT = Duration.ofSeconds(60);
  private static final ObjectMapper JSON = new ObjectMapper();
  private static final HttpClient HTTP = HttpClient.newHttpClient();

  private final Path store;
  private final PeerProcess workers;

  /**
   * Starts the workers.
   *
   * @param folder for their models and their discovery, empty
   */
  CapturedFleet(String name, Path folder) throws IOException {
    store = folder.resolve("store");
    workers =
        PeerProcess.script(
            name + "-workers", store, "captured_workers.py", folder.resolve("models").toString());
  }

  /** A frontend of ours that lists the workers' models. */
  ServerProcess frontend(String name, Map<String, String> environment) throws Exception {
    var plan =
        ServerProcess.Plan.named(name)
            .with("DYN_DISCOVERY_BACKEND", "file")
            .with("DYN_FILE_KV", store.toString())
            .jvm("-Ddynamo.role=frontend");
    for (var variable : environment.entrySet()) {
      plan = plan.with(variable.getKey(), variable.getValue());
    }
    var server = plan.start();
    try {
      server.awaitReady();
      Polling.until(
          "the last model is listed",
          LIMIT,
          () -> server.get("/v1/models").body().contains("\"emb\""));
      return server;
    } catch (Exception | AssertionError failure) {
      server.close();
      throw failure;
    }
  }

  /** Sends the captured requests of {@code group} to {@code server} and compares the answers. */
  static void compare(ServerProcess server, String group) throws Exception {
    var base = server.uri("/").toString().replaceFirst("/$", "");
    var known = deviations().path(group);
    var unexpected = new TreeMap<String, String>();
    var names = new HashSet<String>();
    for (var transcript : Transcript.group(group)) {
      names.add(transcript.name());
      var answer = HTTP.send(transcript.request(base), HttpResponse.BodyHandlers.ofByteArray());
      var difference = difference(transcript, answer);
      var deviation = known.get(transcript.name());
      if (deviation == null ? difference != null : !isStated(deviation, difference, answer)) {
        unexpected.put(transcript.name(), difference == null ? "no difference" : difference);
      }
    }
    assertThat(names).as("stated deviations of %s", group).containsAll(names(known));
    assertThat(unexpected).as("differences of %s", group).isEmpty();
  }

  private static List<String> names(JsonNode object) {
    return object.propertyStream().map(Map.Entry::getKey).toList();
  }

  private static JsonNode deviations() throws IOException {
    try (var in = CapturedFleet.class.getResourceAsStream("captured-deviations.json")) {
      return JSON.readTree(in);
    }
  }

  private static boolean isStated(
      JsonNode deviation, @Nullable String difference, HttpResponse<?> answer) {
    return difference != null && deviation.get("status").asInt() == answer.statusCode();
  }

  /** Returns how an answer differs from the captured one; null when it does not. */
  private static @Nullable String difference(Transcript transcript, HttpResponse<byte[]> answer)
      throws IOException {
    var body = new String(answer.body(), StandardCharsets.UTF_8);
    var captured = transcript.response();
    int status = transcript.status();
    if (captured.has("sse") && answer.statusCode() >= 400) {
      // an error before the first token: while the status line is not sent, ours says it there
      int first = AnswerOutline.firstError(captured.get("sse").asText());
      return first == answer.statusCode() ? null : first + " became " + answer.statusCode();
    }
    var id = captured.path("headers").path("x-request-id").asText("");
    if (!answer.headers().firstValue("x-request-id").orElse("").equals(id)) {
      return "x-request-id: " + id + " became " + answer.headers().map();
    }
    if (answer.statusCode() != status) {
      return status + " became " + answer.statusCode() + ": " + body;
    }
    if (captured.has("sse")) {
      var expected = AnswerOutline.ofStream(captured.get("sse").asText());
      var events = AnswerOutline.ofStream(body);
      return difference( // a slow machine may fill a silence that Dynamo's was not
          expected,
          AnswerOutline.hasComments(expected) ? events : AnswerOutline.withoutComments(events));
    }
    if (!captured.has("json")) {
      return null; // a text that the status stands for
    }
    var json = JSON.writeValueAsString(captured.get("json"));
    return status >= 400
        ? difference(AnswerOutline.ofError(json), AnswerOutline.ofError(body))
        : difference(AnswerOutline.of(json), AnswerOutline.of(body));
  }

  private static @Nullable String difference(JsonNode captured, JsonNode answered) {
    return captured.equals(answered) ? null : captured + "\n became\n" + answered;
  }

  @Override
  public void close() {
    workers.close();
  }
}
