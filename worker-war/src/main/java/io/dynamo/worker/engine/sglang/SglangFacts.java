package io.dynamo.worker.engine.sglang;

import io.dynamo.json.Json;
import io.dynamo.json.JsonObject;
import io.dynamo.worker.engine.remote.EngineHttp;
import io.dynamo.worker.engine.remote.KvEventEndpoint;
import java.io.IOException;
import java.lang.System.Logger.Level;
import java.nio.charset.StandardCharsets;
import java.time.Duration;
import java.util.List;
import java.util.Map;
import java.util.stream.IntStream;
import org.jspecify.annotations.Nullable;

/**
 * The limits and abilities that an SGLang server reports.
 *
 * @param model the name under which it serves
 * @param positions tokens of one sequence
 * @param blockTokens tokens per KV block, SGLang's page; null when the server does not say
 * @param blocksPerRank null when the server does not say
 * @param ranks data-parallel ranks
 * @param maxRunning generations that one rank runs at once, null when the server does not say
 * @param passTokens tokens of a prompt that one pass computes, null when the server does not say
 * @param priority 1 where higher numbers run first, -1 where lower ones do, 0 without priorities
 * @param events where each rank publishes its KV events; empty when none does
 */
record SglangFacts(
    String model,
    int positions,
    @Nullable Integer blockTokens,
    @Nullable Integer blocksPerRank,
    int ranks,
    @Nullable Integer maxRunning,
    @Nullable Integer passTokens,
    int priority,
    List<KvEventEndpoint> events) {
  private static final System.Logger LOG = System.getLogger(SglangFacts.class.getName());
  private static final Duration PROBE = Duration.ofSeconds(60); // the first pass may compile

  SglangFacts {
    events = List.copyOf(events);
  }

  /**
   * Asks a server that is up and awake, at last by generating one token.
   *
   * @param wanted the model to use; null takes what the server serves
   * @throws IllegalArgumentException when the server cannot be used
   */
  static SglangFacts ask(EngineHttp http, @Nullable String wanted)
      throws IOException, InterruptedException {
    var models = http.object("/v1/models").optionalObjects("data");
    if (models.isEmpty()) {
      throw new IllegalArgumentException("it serves no model");
    }
    var name = models.getFirst().text("id");
    if (wanted != null && !wanted.equals(name)) {
      throw new IllegalArgumentException(
          "it serves %s, dynamo.worker.remote.model is %s".formatted(name, wanted));
    }
    var info = info(http);
    var positions = models.getFirst().optionalCount("max_model_len");
    if (positions == null) {
      positions = info.optionalCount("context_length");
    }
    if (positions == null) {
      throw new IllegalArgumentException("neither /v1/models nor /server_info has its context");
    }
    var page = positive(info, "page_size");
    var tokens = positive(info, "max_total_num_tokens");
    int ranks = atLeastOne(positive(info, "dp_size"));
    requireIds(http);
    return new SglangFacts(
        name,
        positions,
        page,
        tokens == null ? null : tokens / atLeastOne(page),
        ranks,
        positive(info, "max_running_requests"),
        positive(info, "chunked_prefill_size"),
        priority(info),
        events(http, info, ranks));
  }

  private static int atLeastOne(@Nullable Integer count) {
    return count == null ? 1 : count;
  }

  /** Returns what the server reports of itself. */
  static JsonObject info(EngineHttp http) throws IOException, InterruptedException {
    var answer = http.get("/server_info");
    if (answer.statusCode() == 404) { // the older name
      return http.object("/get_server_info");
    }
    return http.object("/server_info");
  }

  /** Returns the number under {@code name}, null when there is none above 0. */
  private static @Nullable Integer positive(JsonObject info, String name) {
    return info.members().get(name) instanceof Integer count && count > 0 ? count : null;
  }

  private static int priority(JsonObject info) {
    if (!Boolean.TRUE.equals(info.members().get("enable_priority_scheduling"))) {
      return 0;
    }
    return Boolean.TRUE.equals(info.members().get("schedule_low_priority_values_first")) ? -1 : 1;
  }

  private static void requireIds(EngineHttp http) throws IOException, InterruptedException {
    var body =
        JsonObject.ordered(
            "input_ids",
            new int[] {1},
            "sampling_params",
            Map.of("max_new_tokens", 1, "temperature", 0));
    var answer = http.post("/generate", Json.write(body), PROBE);
    if (answer.statusCode() != 200) {
      throw new IllegalArgumentException(
          "/generate answers %d to one token: %s"
              .formatted(answer.statusCode(), EngineHttp.shown(answer.body())));
    }
    if (Json.readObject(answer.body()).list("output_ids").size() != 1) {
      throw new IllegalArgumentException("/generate returns no output_ids");
    }
  }

  /** Returns where the ranks publish, from the option with which the server was started. */
  private static List<KvEventEndpoint> events(EngineHttp http, JsonObject info, int ranks) {
    if (!(info.members().get("kv_events_config") instanceof String text)) {
      return List.of();
    }
    try {
      var config = Json.readObject(text.getBytes(StandardCharsets.UTF_8));
      var endpoint = config.optionalText("endpoint");
      if (endpoint == null || !"zmq".equals(config.optionalText("publisher"))) {
        return List.of();
      }
      var first =
          KvEventEndpoint.ofServer(
              http.base().getHost(), endpoint, config.optionalText("replay_endpoint"));
      return IntStream.range(0, ranks).mapToObj(first::ofRank).toList();
    } catch (IllegalArgumentException e) {
      LOG.log(
          Level.WARNING,
          "the KV events of SGLang at {0} are not followed, routers go by their own decisions: {1}",
          http.base(),
          e.getMessage());
      return List.of();
    }
  }
}
