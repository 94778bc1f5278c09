package io.dynamo.worker.engine.vllm;

import io.dynamo.inference.GenerateRequest;
import io.dynamo.inference.GuidedDecoding;
import io.dynamo.json.Json;
import io.dynamo.worker.engine.remote.GuidedForms;
import io.dynamo.worker.engine.remote.Options;
import java.util.LinkedHashMap;
import java.util.Map;
import org.jspecify.annotations.Nullable;

/** Writes requests for streamed tokens in the two forms that vLLM's server has. Immutable. */
final class VllmRequests {
  private static final int MAX_LIKELY = 20; // unless the server has another --max-logprobs

  private final int vocabulary;
  private final Map<String, Number> defaults;

  /**
   * @param vocabulary number of token ids of the model
   * @param defaults of sampling options by their names: {@code /inference/v1/generate} does not
   *     read the model's own
   */
  VllmRequests(int vocabulary, Map<String, Number> defaults) {
    this.vocabulary = vocabulary;
    this.defaults = Map.copyOf(defaults);
  }

  /** Returns the body of a request to {@code /v1/completions}. */
  byte[] completion(GenerateRequest request, VllmFacts server, int budget) {
    var body = head(request, server);
    body.put("prompt", request.tokenIds());
    body.put("add_special_tokens", false);
    body.put("return_token_ids", true);
    body.putAll(options(request, budget));
    if (request.output().logprobs() != null) {
      body.put("return_tokens_as_token_ids", true);
    }
    Options.put(body, "kv_transfer_params", transfer(request));
    return Json.write(body);
  }

  /**
   * Returns whether {@code /inference/v1/generate} can answer a request. It returns no parameters
   * of connectors, and lists the drawn token in place of the least likely of those asked for, so
   * that one more is asked for, up to the server's limit.
   */
  static boolean fitsTokens(GenerateRequest request) {
    var likely = request.output().logprobs();
    return transfer(request) == null && (likely == null || likely < MAX_LIKELY);
  }

  /** Returns the body of a request to {@code /inference/v1/generate}. */
  byte[] tokens(GenerateRequest request, VllmFacts server, int budget) {
    var body = head(request, server);
    body.put("token_ids", request.tokenIds());
    var sampling = options(request, budget);
    defaults.forEach(sampling::putIfAbsent);
    sampling.put("detokenize", false);
    var likely = request.output().logprobs();
    if (likely != null && likely > 0) {
      sampling.put("logprobs", likely + 1);
    }
    body.put("sampling_params", sampling);
    return Json.write(body);
  }

  private static Map<String, @Nullable Object> head(GenerateRequest request, VllmFacts server) {
    var adapter = Options.hint(request, "lora_name");
    var body = new LinkedHashMap<String, @Nullable Object>();
    body.put("model", adapter == null ? server.model() : adapter);
    body.put("stream", true);
    body.put("stream_options", Map.of("include_usage", true));
    Options.put(body, "cache_salt", Options.hint(request, "cache_salt"));
    if (server.priorities()
        && request.routing().passedOn().get("priority") instanceof Number priority) {
      body.put("priority", -priority.longValue()); // vLLM runs lower numbers first
    }
    return body;
  }

  private Map<String, @Nullable Object> options(GenerateRequest request, int budget) {
    var options = new LinkedHashMap<String, @Nullable Object>();
    options.put("max_tokens", budget);
    options.put("skip_special_tokens", false);
    Options.addSampling(options, request, vocabulary);
    Options.put(options, "seed", Options.seed(request));
    var bias = Options.bias(request, vocabulary);
    if (!bias.isEmpty()) {
      options.put("logit_bias", bias);
    }
    var stop = request.stop();
    options.put("stop_token_ids", Options.stops(request));
    options.put("ignore_eos", stop.ignoreEos());
    Options.put(options, "min_tokens", stop.minTokens());
    Options.put(options, "thinking_token_budget", stop.maxThinkingTokens());
    Options.put(options, "logprobs", request.output().logprobs());
    Options.put(options, "structured_outputs", guided(request.sampling().guided()));
    return options;
  }

  private static @Nullable Map<String, @Nullable Object> guided(@Nullable GuidedDecoding form) {
    if (form == null) {
      return null;
    }
    GuidedForms.refuseBackend(VllmDialect.NAME, form);
    var guided = new LinkedHashMap<String, @Nullable Object>();
    Options.put(guided, "json", form.json());
    Options.put(guided, "regex", form.regex());
    Options.put(guided, "choice", form.choice().isEmpty() ? null : form.choice());
    Options.put(guided, "grammar", form.grammar());
    Options.put(guided, "structural_tag", GuidedForms.asText(form.structuralTag()));
    if (guided.isEmpty()) {
      return null;
    }
    GuidedForms.requireOne(guided.keySet());
    Options.put(guided, "whitespace_pattern", form.whitespacePattern());
    return guided;
  }

  /**
   * Returns the parameters that the prefill worker handed over, or those that the client passes to
   * the connector; null when there are none.
   */
  static @Nullable Object transfer(GenerateRequest request) {
    var prefill = request.handoff().prefill();
    if (prefill != null && prefill.params() instanceof Map<?, ?> params) {
      return params.get("kv_transfer_params");
    }
    return request.extraArgs().get("kv_transfer_params");
  }
}
