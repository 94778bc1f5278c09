package io.dynamo.worker.engine.vllm;

import io.dynamo.error.DynamoException;
import io.dynamo.json.Json;
import io.dynamo.json.JsonObject;
import io.dynamo.worker.engine.remote.EngineHttp;
import io.dynamo.worker.engine.remote.KvEventEndpoint;
import io.dynamo.worker.engine.vllm.VllmDialect.TokenRoute;
import java.io.IOException;
import java.lang.System.Logger.Level;
import java.nio.charset.StandardCharsets;
import java.time.Duration;
import java.util.ArrayList;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.regex.Pattern;
import org.jspecify.annotations.Nullable;

/**
 * The limits and abilities that a vLLM server reports.
 *
 * @param model the name under which it serves
 * @param positions tokens of one sequence
 * @param blockTokens tokens per KV block; null when the server does not say
 * @param blocksPerRank null when the server does not say
 * @param ranks data-parallel ranks
 * @param priorities whether requests may have priorities
 * @param tokenRoute whether {@code /inference/v1/generate} streams token ids
 * @param events where each rank publishes its KV events; empty when none does
 */
record VllmFacts(
    String model,
    int positions,
    @Nullable Integer blockTokens,
    @Nullable Integer blocksPerRank,
    int ranks,
    boolean priorities,
    boolean tokenRoute,
    List<KvEventEndpoint> events) {
  static final String COMPLETIONS = "/v1/completions";
  static final String TOKENS = "/inference/v1/generate";
  private static final System.Logger LOG = System.getLogger(VllmFacts.class.getName());
  private static final Duration PROBE = Duration.ofSeconds(60); // the first pass may compile
  private static final String DATA = "data: ";
  private static final String CACHE = "vllm:cache_config_info{";
  private static final Pattern LABEL = Pattern.compile("(\\w+)=\"((?:[^\"\\\\]|\\\\.)*)\"");

  VllmFacts {
    events = List.copyOf(events);
  }

  /**
   * Asks a server that is up and awake, at last by generating one token.
   *
   * @param wanted the model to use; null takes the first that is no adapter
   * @param route whether the route without text is asked for
   * @throws IllegalArgumentException when the server cannot be used
   */
  static VllmFacts ask(EngineHttp http, @Nullable String wanted, TokenRoute route)
      throws IOException, InterruptedException {
    var model = model(http.object("/v1/models"), wanted);
    var name = model.text("id");
    int positions = positions(model);
    var caches = caches(http);
    var first = caches.isEmpty() ? Map.<String, String>of() : caches.getFirst();
    return new VllmFacts(
        name,
        positions,
        count(first.get("block_size")),
        count(first.get("num_gpu_blocks")),
        Math.max(1, caches.size()),
        takesPriorities(http, name),
        route == TokenRoute.IF_OFFERED && streamsTokens(http, name),
        events(http));
  }

  /** Returns the context of one of the server's models. */
  static int positions(JsonObject model) {
    var positions = model.optionalCount("max_model_len");
    if (positions == null) {
      throw new IllegalArgumentException("/v1/models has no max_model_len for " + model.text("id"));
    }
    return positions;
  }

  /**
   * Returns the server's entry of a model.
   *
   * @param wanted null takes the first that is no adapter
   */
  static JsonObject model(JsonObject models, @Nullable String wanted) {
    var names = new ArrayList<String>();
    for (var model : models.optionalObjects("data")) {
      var name = model.text("id");
      names.add(name);
      if (wanted == null ? model.members().get("parent") == null : wanted.equals(name)) {
        return model;
      }
    }
    throw new IllegalArgumentException(
        wanted == null
            ? "it serves no model"
            : "it serves %s, dynamo.worker.remote.model is %s".formatted(names, wanted));
  }

  /** Returns the labels of the cache of each rank; empty when the server has no such metric. */
  private static List<Map<String, String>> caches(EngineHttp http)
      throws IOException, InterruptedException {
    var answer = http.get("/metrics");
    var caches = new ArrayList<Map<String, String>>();
    if (answer.statusCode() == 200) {
      new String(answer.body(), StandardCharsets.UTF_8)
          .lines()
          .filter(line -> line.startsWith(CACHE))
          .forEach(line -> caches.add(labels(line)));
    }
    return caches;
  }

  private static Map<String, String> labels(String line) {
    var labels = new HashMap<String, String>();
    var each = LABEL.matcher(line);
    while (each.find()) {
      labels.put(each.group(1), each.group(2));
    }
    return labels;
  }

  private static @Nullable Integer count(@Nullable String text) {
    return text == null || !text.matches("[1-9]\\d{0,8}") ? null : (Integer) Integer.parseInt(text);
  }

  /**
   * Generates one token, first with a priority, which servers without priority scheduling refuse.
   *
   * @return whether requests may have priorities
   * @throws IllegalArgumentException when no token id comes back
   */
  private static boolean takesPriorities(EngineHttp http, String model)
      throws IOException, InterruptedException {
    boolean priorities = true;
    var body =
        JsonObject.ordered(
            "model",
            model,
            "prompt",
            new int[] {1},
            "max_tokens",
            1,
            "temperature",
            0,
            "return_token_ids",
            true,
            "priority",
            1);
    var answer = http.post(COMPLETIONS, Json.write(body), PROBE);
    if (answer.statusCode() == 400) {
      priorities = false;
      body.remove("priority");
      answer = http.post(COMPLETIONS, Json.write(body), PROBE);
    }
    if (answer.statusCode() != 200) {
      throw new IllegalArgumentException(
          "/v1/completions answers %d to one token: %s"
              .formatted(answer.statusCode(), EngineHttp.shown(answer.body())));
    }
    var choices = Json.readObject(answer.body()).optionalObjects("choices");
    if (choices.isEmpty() || choices.getFirst().list("token_ids").size() != 1) {
      throw new IllegalArgumentException(
          "/v1/completions returns no token ids; vLLM 0.10.2 and later do");
    }
    return priorities;
  }

  /**
   * Returns whether the route without text gives one token in the form of vLLM 0.32, whose choices
   * have {@code stop_reason}. Earlier servers have the route, too, but rate tokens in it otherwise.
   */
  private static boolean streamsTokens(EngineHttp http, String model) throws InterruptedException {
    var body =
        JsonObject.ordered(
            "model",
            model,
            "token_ids",
            new int[] {1},
            "stream",
            true,
            "sampling_params",
            JsonObject.ordered("max_tokens", 1, "temperature", 0, "detokenize", false));
    try {
      var answer = http.post(TOKENS, Json.write(body), PROBE);
      if (answer.statusCode() != 200) {
        return false;
      }
      int tokens = 0;
      boolean current = false;
      for (var line : new String(answer.body(), StandardCharsets.UTF_8).lines().toList()) {
        var chunk = new VllmReader(new int[0], 0).read(line.getBytes(StandardCharsets.UTF_8));
        tokens += chunk == null ? 0 : chunk.tokens().length;
        current |= hasStopReason(line);
      }
      if (tokens == 1 && current) {
        return true;
      }
      LOG.log(
          Level.INFO,
          "{0} of vLLM at {1} is not used: its answer is not that of vLLM 0.32",
          TOKENS,
          http.base());
    } catch (IOException | IllegalArgumentException | DynamoException e) {
      LOG.log(Level.INFO, "{0} of vLLM at {1} is not used: {2}", TOKENS, http.base(), e);
    }
    return false;
  }

  private static boolean hasStopReason(String line) {
    if (!line.startsWith(DATA + "{")) {
      return false;
    }
    var message = Json.readObject(line.substring(DATA.length()).getBytes(StandardCharsets.UTF_8));
    return message.optionalObjects("choices").stream()
        .anyMatch(choice -> choice.members().containsKey("stop_reason"));
  }

  /** Returns where the ranks publish; empty for servers that do not report it, as older ones. */
  private static List<KvEventEndpoint> events(EngineHttp http)
      throws IOException, InterruptedException {
    var answer = http.get("/kv_event_sources");
    if (answer.statusCode() != 200) {
      return List.of();
    }
    var sources = Json.readObject(answer.body());
    var events = new ArrayList<KvEventEndpoint>();
    try {
      for (int rank = 0; rank < sources.members().size(); rank++) {
        var source = sources.optionalObject(Integer.toString(rank));
        if (source == null || !"zmq".equals(source.optionalText("publisher"))) {
          break;
        }
        events.add(
            KvEventEndpoint.ofServer(
                http.base().getHost(),
                source.text("endpoint"),
                source.optionalText("replay_endpoint")));
      }
    } catch (IllegalArgumentException e) {
      LOG.log(
          Level.WARNING,
          "the KV events of vLLM at {0} are not followed, routers go by their own decisions: {1}",
          http.base(),
          e.getMessage());
      return List.of();
    }
    return List.copyOf(events);
  }
}
