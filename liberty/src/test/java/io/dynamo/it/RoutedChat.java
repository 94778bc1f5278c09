package io.dynamo.it;

import static org.assertj.core.api.Assertions.assertThat;

import com.fasterxml.jackson.databind.JsonNode;
import com.fasterxml.jackson.databind.ObjectMapper;
import com.fasterxml.jackson.databind.node.ObjectNode;
import java.io.IOException;
import java.net.URI;
import java.net.http.HttpClient;
import java.net.http.HttpRequest;
import java.net.http.HttpResponse;
import java.time.Duration;
import java.util.LinkedHashMap;
import java.util.Map;
import java.util.UUID;
import java.util.stream.StreamSupport;

/**
 * A chat, asked without streaming, and why it went where it went.
 *
 * @param text empty where only the route was asked for
 * @param cachedTokens of the prompt, as the worker found them
 * @param decision what {@code /router/explain} tells of it
 */
record RoutedChat(String text, int promptTokens, int cachedTokens, JsonNode decision) {
  private static final ObjectMapper JSON = new ObjectMapper();
  private static final Duration LIMIT = Duration.ofSeconds(30);
  private static final HttpClient HTTP = HttpClient.newHttpClient();

  /** A rank of a worker, as decisions name it. */
  record Rank(String worker, int rank) {
    static Rank of(JsonNode json) {
      return new Rank(json.get("worker_id").asText(), json.get("dp_rank").intValue());
    }
  }

  /** Asks {@code body}, as of {@link ChatClient#body} without a stream. */
  static RoutedChat ask(URI frontend, String body) throws IOException, InterruptedException {
    return ask(frontend, body, Map.of());
  }

  /** The same, of this rank and no other. */
  static RoutedChat ask(URI frontend, String body, Rank rank)
      throws IOException, InterruptedException {
    return ask(
        frontend,
        body,
        Map.of(
            "x-dynamo-worker-instance-id",
            rank.worker,
            "x-dynamo-dp-rank",
            Integer.toString(rank.rank)));
  }

  /** Asks where {@code body} would go, and nothing of a worker. */
  static RoutedChat probe(URI frontend, String body) throws IOException, InterruptedException {
    var request = (ObjectNode) JSON.readTree(body);
    request.putObject("nvext").putArray("annotations").add("query_instance_id:aggregated");
    return ask(frontend, request.toString());
  }

  private static RoutedChat ask(URI frontend, String body, Map<String, String> headers)
      throws IOException, InterruptedException {
    var id = UUID.randomUUID().toString();
    var request =
        HttpRequest.newBuilder(frontend.resolve("/v1/chat/completions"))
            .timeout(LIMIT)
            .header("content-type", "application/json")
            .header("x-dynamo-request-id", id)
            .POST(HttpRequest.BodyPublishers.ofString(body));
    headers.forEach(request::header);
    var answer = json(request.build());
    return new RoutedChat(
        answer.at("/choices/0/message/content").asText(""),
        answer.at("/usage/prompt_tokens").asInt(0),
        answer.at("/usage/prompt_tokens_details/cached_tokens").asInt(0),
        explain(frontend, id));
  }

  /** Why a request went where it went, by the id it was asked under. */
  static JsonNode explain(URI frontend, String requestId) throws IOException, InterruptedException {
    return json(
        HttpRequest.newBuilder(frontend.resolve("/router/explain/" + requestId))
            .timeout(LIMIT)
            .build());
  }

  private static JsonNode json(HttpRequest request) throws IOException, InterruptedException {
    var answer = HTTP.send(request, HttpResponse.BodyHandlers.ofString());
    assertThat(answer.statusCode()).as(answer.body()).isEqualTo(200);
    return JSON.readTree(answer.body());
  }

  /** A chat of which only the decision matters. */
  static RoutedChat of(JsonNode decision) {
    return new RoutedChat("", decision.get("prompt_tokens").intValue(), 0, decision);
  }

  Rank chosen() {
    return Rank.of(decision.get("chosen"));
  }

  /** Blocks of the prompt that each candidate holds, as the router believed. */
  Map<Rank, Integer> overlaps() {
    var overlaps = new LinkedHashMap<Rank, Integer>();
    StreamSupport.stream(decision.get("candidates").spliterator(), false)
        .forEach(
            candidate ->
                overlaps.put(
                    Rank.of(candidate), candidate.at("/overlap_blocks/device").intValue()));
    return overlaps;
  }

  /** Tokens of the prompt that the chosen rank has cached, if the router is right. */
  int believedTokens() {
    int block = decision.get("block_tokens").intValue();
    int overlap = overlaps().getOrDefault(chosen(), 0);
    int most = (decision.get("prompt_tokens").intValue() - 1) / block; // one token is computed
    return block * Math.min(overlap, most);
  }
}
