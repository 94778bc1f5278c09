package io.dynamo.worker.engine.llamacpp;

import io.dynamo.error.InvalidRequestException;
import io.dynamo.inference.GenerateRequest;
import io.dynamo.inference.GuidedDecoding;
import io.dynamo.json.Json;
import io.dynamo.worker.engine.sampling.EndTokens;
import io.dynamo.worker.engine.sampling.SamplingPlan;
import java.util.ArrayList;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import org.jspecify.annotations.Nullable;

/**
 * Builds one generation's requests to the server: every option is named, so that no default of the
 * server applies. Immutable.
 */
final class Prompting {
  private static final List<String> ANSWER =
      List.of(
          "tokens",
          "stop",
          "stop_type",
          "tokens_predicted",
          "timings/cache_n",
          "completion_probabilities");
  private static final List<String> SAMPLERS =
      List.of("penalties", "temperature", "min_p", "top_k", "top_p");
  private static final long SEED_MIX = 0x9E3779B97F4A7C15L;
  private static final long ANY_SEED = 0xFFFFFFFFL; // the server's value for "choose a seed"

  private final SamplingPlan plan;
  private final EndTokens ends;
  private final boolean ignoreEos;
  private final @Nullable Integer alternatives;
  private final Map<String, Object> form; // what guides the text; empty when unguided
  private final int window; // tokens that penalties look back

  /**
   * @throws InvalidRequestException when the server does not support an option of the request
   */
  Prompting(GenerateRequest request, SamplingPlan plan, EndTokens ends, int contextLength) {
    this.plan = plan;
    this.ends = ends;
    this.ignoreEos = request.stop().ignoreEos();
    this.alternatives = request.output().logprobs();
    this.form = form(request.sampling().guided());
    this.window = contextLength;
    if (isGuided() && ends.leastTokens() > 0) {
      throw new InvalidRequestException("min_tokens does not go with guided decoding here");
    }
  }

  /**
   * Whether the text has a form that begins with its first token, so that it is made in one
   * request.
   */
  boolean isGuided() {
    return !form.isEmpty();
  }

  /**
   * Returns how many likely tokens are reported with each; null when log probabilities are not
   * requested.
   */
  @Nullable Integer alternatives() {
    return alternatives;
  }

  private static Map<String, Object> form(@Nullable GuidedDecoding guided) {
    if (guided == null) {
      return Map.of();
    }
    if (guided.regex() != null || guided.structuralTag() != null) {
      throw new InvalidRequestException(
          "llama.cpp's server guides by JSON schema, grammar or choice, not by regex or structural"
              + " tag");
    }
    if (guided.json() != null) {
      return Map.of("json_schema", guided.json());
    }
    if (guided.grammar() != null) {
      return Map.of("grammar", guided.grammar());
    }
    return guided.choice().isEmpty() ? Map.of() : Map.of("grammar", oneOf(guided.choice()));
  }

  /** Returns a grammar that accepts exactly these texts. */
  static String oneOf(List<String> choices) {
    var grammar = new StringBuilder("root ::= ");
    for (int i = 0; i < choices.size(); i++) {
      grammar.append(i == 0 ? "\"" : " | \"");
      choices.get(i).codePoints().forEach(letter -> grammar.append(escaped(letter)));
      grammar.append('"');
    }
    return grammar.toString();
  }

  private static String escaped(int letter) {
    return letter >= ' ' && letter < 127 && letter != '"' && letter != '\\'
        ? Character.toString(letter)
        : "\\U%08X".formatted(letter);
  }

  /**
   * Returns the body that requests {@code most} tokens after {@code text}.
   *
   * @param made how many of the last tokens of {@code text} were generated
   * @param streamed whether the tokens come one by one
   */
  byte[] body(int[] text, int made, int most, boolean streamed) {
    var body = new LinkedHashMap<String, @Nullable Object>();
    body.put("prompt", text);
    body.put("n_predict", most);
    body.put("stream", streamed);
    body.put("return_tokens", true);
    body.put("return_progress", streamed);
    body.put("cache_prompt", true);
    body.put("samplers", SAMPLERS);
    body.put("mirostat", 0);
    body.put("dynatemp_range", 0);
    body.put("temperature", plan.temperature());
    body.put("top_k", plan.topK());
    body.put("top_p", plan.topP());
    body.put("min_p", plan.minP());
    body.put("repeat_penalty", plan.repetitionPenalty());
    body.put("frequency_penalty", plan.frequencyPenalty());
    body.put("presence_penalty", plan.presencePenalty());
    body.put("repeat_last_n", window);
    body.put("seed", seed(made));
    boolean early = made < ends.leastTokens();
    body.put("ignore_eos", ignoreEos || early);
    body.put("logit_bias", bias(early));
    body.put("n_probs", alternatives == null ? 0 : Math.max(1, alternatives));
    body.put("post_sampling_probs", false);
    body.put("response_fields", ANSWER);
    body.putAll(form);
    return Json.write(body);
  }

  /**
   * Returns a seed that differs per request: the server restarts its draws with each request, and a
   * continued text must not repeat them.
   */
  private long seed(int made) {
    long seed = plan.seed();
    if (made > 0) {
      long mixed = (seed + made) * SEED_MIX;
      seed = mixed ^ mixed >>> 32;
    }
    seed &= ANY_SEED;
    return seed == ANY_SEED ? seed - 1 : seed;
  }

  private List<List<Object>> bias(boolean early) {
    var bias = new ArrayList<List<Object>>();
    plan.bias().forEach((id, by) -> bias.add(List.of(id, by)));
    if (early) {
      for (int id : ends.ids()) {
        bias.add(List.of(id, false)); // never drawn
      }
    }
    return bias;
  }
}
