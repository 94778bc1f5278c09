package io.dynamo.worker.engine.trtllm;

import io.dynamo.json.Json;
import io.dynamo.json.JsonObject;
import io.dynamo.worker.engine.remote.EngineHttp;
import io.dynamo.worker.engine.remote.RemoteWishes;
import java.io.IOException;
import java.time.Duration;
import java.util.ArrayList;
import java.util.Map;
import java.util.Objects;
import java.util.concurrent.ThreadLocalRandom;
import org.jspecify.annotations.Nullable;

/**
 * The abilities of a TensorRT-LLM server, found by asking: it reports its cache in the statistics
 * of an iteration, and whether it publishes KV events is seen by whether a new prompt makes one.
 *
 * @param model the name under which it serves
 * @param blockTokens tokens per KV block; null without statistics
 * @param blocks KV blocks; null without statistics
 * @param maxRunning generations at once; null without statistics
 * @param events whether it publishes KV events
 */
record TrtllmFacts(
    String model,
    @Nullable Integer blockTokens,
    @Nullable Integer blocks,
    @Nullable Integer maxRunning,
    boolean events) {
  private static final Duration PROBE = Duration.ofSeconds(60); // the first pass may compile
  private static final int PROBE_BLOCK = 128; // tokens; no block is larger by default

  /**
   * Asks the server, by generating one token after a prompt that it cannot have cached.
   *
   * @throws IllegalArgumentException when the server cannot be used
   */
  static TrtllmFacts ask(EngineHttp http, RemoteWishes wishes)
      throws IOException, InterruptedException {
    http.requireOk("/health");
    var name = model(http.object("/v1/models"), wishes.model());
    var before = TrtllmEvents.drain(http);
    probe(http, name, prompt(wishes));
    var latest = JsonObject.of(Map.of());
    for (var iteration : JsonLists.objects("/metrics", http.get("/metrics"))) {
      latest = iteration;
    }
    var cache = latest.optionalObject("kvCacheStats");
    var after = before == null ? null : TrtllmEvents.drain(http);
    return new TrtllmFacts(
        name,
        cache == null ? null : cache.optionalCount("tokensPerBlock"),
        cache == null ? null : cache.optionalCount("maxNumBlocks"),
        latest.optionalCount("maxNumActiveRequests"),
        after != null && !after.isEmpty());
  }

  private static String model(JsonObject models, @Nullable String wanted) {
    var names = new ArrayList<String>();
    for (var model : models.optionalObjects("data")) {
      names.add(model.text("id"));
      if (wanted == null || wanted.equals(names.getLast())) {
        return names.getLast();
      }
    }
    throw new IllegalArgumentException(
        wanted == null
            ? "it serves no model"
            : "it serves %s, dynamo.worker.remote.model is %s".formatted(names, wanted));
  }

  /** Returns more than one block of tokens drawn at random. */
  private static int[] prompt(RemoteWishes wishes) {
    int block = Objects.requireNonNullElse(wishes.blockTokens(), PROBE_BLOCK);
    return ThreadLocalRandom.current().ints(block + 1L, 0, wishes.vocabulary()).toArray();
  }

  private static void probe(EngineHttp http, String model, int[] prompt)
      throws IOException, InterruptedException {
    var body =
        JsonObject.ordered(
            "model",
            model,
            "prompt",
            prompt,
            "add_special_tokens",
            false,
            "max_tokens",
            1,
            "ignore_eos",
            true,
            "detokenize",
            false);
    var answer = http.post(TrtllmDialect.COMPLETIONS, Json.write(body), PROBE);
    if (answer.statusCode() == 429 || answer.statusCode() == 503) {
      throw new EngineHttp.NotReadyException(
          TrtllmDialect.COMPLETIONS + " answers " + answer.statusCode());
    }
    if (answer.statusCode() != 200) {
      throw new IllegalArgumentException(
          "/v1/completions answers %d to one token: %s"
              .formatted(answer.statusCode(), EngineHttp.shown(answer.body())));
    }
    var choices = Json.readObject(answer.body()).optionalObjects("choices");
    if (choices.isEmpty()
        || choices.getFirst().members().get("token_ids") == null
        || choices.getFirst().list("token_ids").isEmpty()) {
      throw new IllegalArgumentException(
          "/v1/completions returns no token ids; trtllm-serve 1.0 and later do");
    }
  }
}
