package io.dynamo.it;

import static org.assertj.core.api.Assertions.assertThat;

import com.fasterxml.jackson.databind.JsonNode;
import com.fasterxml.jackson.databind.ObjectMapper;
import java.io.IOException;
import java.net.http.HttpClient;
import java.net.http.HttpResponse;
import java.nio.charset.StandardCharsets;
import java.util.HashSet;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.Objects;
import java.util.TreeMap;
import java.util.function.UnaryOperator;
import org.jspecify.annotations.Nullable;

/**
 * Captured requests, sent again to a server of ours. Answers are compared with the captured ones;
 * where ours differ by intent, {@code captured-deviations.json} says how and why: no other answer
 * may differ, and each of those must.
 */
final class CapturedReplay {
  private static final ObjectMapper JSON = new ObjectMapper();
  private static final String OURS = "ours"; // what differs: our answer
  private static final String WORKER = "worker"; // or what the worker got
  private static final String REQUEST_ID = "x-request-id";
  private static final HttpClient HTTP = HttpClient.newHttpClient();

  private final ServerProcess server;
  private final UnaryOperator<JsonNode> outline;
  private final @Nullable WorkerRecords records; // null: what workers get is not compared

  /**
   * How an answer, or what the worker got, is another than the captured one.
   *
   * @param ours the outline of ours
   */
  record Difference(String text, JsonNode ours) {
    /** The difference of two outlines; null when they are the same. */
    static @Nullable Difference between(JsonNode captured, JsonNode ours) {
      return captured.equals(ours) ? null : new Difference(captured + " became", ours);
    }

    @Override
    public String toString() {
      return text + "\nours " + ours + "\n;";
    }
  }

  private CapturedReplay(
      ServerProcess server, UnaryOperator<JsonNode> outline, @Nullable WorkerRecords records) {
    this.server = server;
    this.outline = outline;
    this.records = records;
  }

  /** A replay that compares answers. */
  static CapturedReplay to(ServerProcess server) {
    return new CapturedReplay(server, UnaryOperator.identity(), null);
  }

  /** The same replay, which compares what workers got, too. */
  CapturedReplay before(CapturedFleet workers) {
    return new CapturedReplay(server, outline, new WorkerRecords(workers));
  }

  /** The same replay to a server whose workers make up their texts. */
  CapturedReplay withoutTexts() {
    return new CapturedReplay(server, AnswerOutline::withoutTexts, records);
  }

  /** Sends the requests of {@code group}, in the order of their names, and compares. */
  void compare(String group) throws Exception {
    compare(group, Transcript.group(group));
  }

  /**
   * Sends requests in the given order, and compares.
   *
   * @param transcripts of {@code group}
   */
  void compare(String group, List<Transcript> transcripts) throws Exception {
    var base = server.uri("/").toString().replaceFirst("/$", "");
    var known = deviations().path(group);
    var unexpected = new TreeMap<String, String>();
    var names = new HashSet<String>();
    for (var transcript : transcripts) {
      names.add(transcript.name());
      if (records != null) {
        records.forget();
      }
      var answer = HTTP.send(transcript.request(base), HttpResponse.BodyHandlers.ofByteArray());
      var differences = new LinkedHashMap<String, Difference>();
      put(differences, OURS, difference(transcript, answer));
      if (records != null) {
        put(differences, WORKER, records.difference(transcript.json().path("worker_received")));
      }
      var deviation = known.get(transcript.name());
      if (deviation == null ? !differences.isEmpty() : !isStated(deviation, differences, answer)) {
        unexpected.put(transcript.name(), answer.statusCode() + " " + differences);
      }
    }
    assertThat(names).as("stated deviations of %s", group).containsAll(names(known));
    assertThat(unexpected).as("differences of %s", group).isEmpty();
  }

  private static List<String> names(JsonNode object) {
    return object.propertyStream().map(Map.Entry::getKey).toList();
  }

  private static JsonNode deviations() throws IOException {
    try (var in = CapturedReplay.class.getResourceAsStream("captured-deviations.json")) {
      return JSON.readTree(in);
    }
  }

  private static void put(
      Map<String, Difference> differences, String what, @Nullable Difference difference) {
    if (difference != null) {
      differences.put(what, difference);
    }
  }

  /** Whether a deviation says what differs, in all but its reason. */
  private static boolean isStated(
      JsonNode deviation, Map<String, Difference> differences, HttpResponse<?> answer) {
    if (deviation.get("status").asInt() != answer.statusCode()) {
      return false;
    }
    if (deviation.path("large").asBoolean()) {
      return differences.containsKey(OURS); // it is too much to be written down
    }
    for (var what : List.of(OURS, WORKER)) {
      var difference = differences.get(what);
      if (!Objects.equals(deviation.get(what), difference == null ? null : difference.ours())) {
        return false;
      }
    }
    return true;
  }

  /** Returns how an answer differs from the captured one; null when it does not. */
  private @Nullable Difference difference(Transcript transcript, HttpResponse<byte[]> answer)
      throws IOException {
    var body = new String(answer.body(), StandardCharsets.UTF_8);
    var captured = transcript.response();
    var status = JSON.getNodeFactory().numberNode(transcript.status());
    var answered = JSON.getNodeFactory().numberNode(answer.statusCode());
    if (captured.has("sse") && answer.statusCode() >= 400) {
      // an error before the first token: while the status line is not sent, ours says it there
      int first = AnswerOutline.firstError(captured.get("sse").asText());
      return Difference.between(JSON.getNodeFactory().numberNode(first), answered);
    }
    var id = JSON.getNodeFactory().textNode(captured.path("headers").path(REQUEST_ID).asText(""));
    var answeredId =
        JSON.getNodeFactory().textNode(answer.headers().firstValue(REQUEST_ID).orElse(""));
    if (!id.equals(answeredId)) {
      return Difference.between(id, answeredId);
    }
    if (!status.equals(answered)) {
      return new Difference(
          status + " became " + answered,
          answer.statusCode() >= 400 ? AnswerOutline.ofError(body) : AnswerOutline.ofAny(body));
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
    return transcript.status() >= 400
        ? difference(AnswerOutline.ofError(json), AnswerOutline.ofError(body))
        : difference(AnswerOutline.of(json), AnswerOutline.of(body));
  }

  private @Nullable Difference difference(JsonNode captured, JsonNode answered) {
    return Difference.between(outline.apply(captured), outline.apply(answered));
  }
}
