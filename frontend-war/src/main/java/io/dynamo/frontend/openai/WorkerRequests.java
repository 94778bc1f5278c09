package io.dynamo.frontend.openai;

import io.dynamo.frontend.ApiError;
import io.dynamo.frontend.ApiException;
import io.dynamo.frontend.catalog.ServedModel;
import io.dynamo.frontend.media.PreparedMedia;
import io.dynamo.frontend.openai.wire.GenerationFields;
import io.dynamo.frontend.postprocess.reasoning.ThinkingControls;
import io.dynamo.inference.GenerateRequest;
import io.dynamo.inference.Handoff;
import io.dynamo.inference.OutputOptions;
import io.dynamo.inference.PassedOn;
import io.dynamo.inference.RoutingHints;
import io.dynamo.inference.SamplingOptions;
import java.util.Arrays;
import java.util.LinkedHashMap;
import java.util.Map;
import org.jspecify.annotations.Nullable;

/** Builds the requests that are sent to workers, and refuses prompts that no worker could take. */
final class WorkerRequests {
  private static final int[] NO_TOKENS = {};

  private WorkerRequests() {}

  /**
   * The request for one choice of one prompt.
   *
   * @param media of the prompt
   * @param choice among those of the prompt: each has a seed of its own, so that they differ
   * @param agent the session of the request as JSON; empty is left out
   * @throws ApiException with 400 when the prompt is not for this model
   */
  static GenerateRequest of(
      Api.ParsedRequest parsed,
      ServedModel model,
      PreparedPrompt prompt,
      PreparedMedia media,
      int choice,
      Map<String, Object> agent) {
    var fields = parsed.fields();
    var nvext = fields.nvext();
    var eos = fields.stop().ignoreEos() ? NO_TOKENS : model.text().eosTokenIds();
    var extra = new LinkedHashMap<String, Object>(parsed.extraArgs(prompt));
    put(extra, "nvext", nvext.forWorker());
    put(extra, "sampling_options", fields.engineOptions());
    var passed = new LinkedHashMap<String, Object>(parsed.passedOn());
    passed.putAll(fields.passedOn().fields());
    media.addTo(passed, extra);
    put(passed, "router", nvext.targets());
    put(passed, "agent_context", agent);
    if (agent.get("session_id") instanceof String session) {
      passed.put("image_cache_scope", session);
    }
    if (model.card().reasoningParser() != null) {
      addReasoning(parsed, extra, passed);
    }
    if (nvext.timestampMillis() != null) {
      passed.put("request_timestamp_ms", nvext.timestampMillis());
    }
    return new GenerateRequest(
        model.name(),
        prompt.tokens(),
        fields.stop().withHidden(Arrays.stream(eos).boxed().toList()),
        seeded(fields.sampling(), choice),
        rated(fields, parsed.texts()),
        eos,
        model.checksum(),
        nvext.annotations(),
        new RoutingHints(rank(fields), PassedOn.of(hints(fields, model))),
        extra,
        Handoff.NONE,
        PassedOn.of(passed));
  }

  /** Adds the facts by which an engine that guides answers lets thoughts pass. */
  private static void addReasoning(
      Api.ParsedRequest parsed, Map<String, Object> extra, Map<String, Object> passed) {
    var args = parsed.templateArgs();
    if (!args.isEmpty()) {
      extra.put("reasoning_parser_kwargs", Map.of("chat_template_kwargs", args));
    }
    boolean chat = parsed.message() != null; // no other prompt is sure to begin with thoughts
    if (chat
        && parsed.fields().sampling().guided() != null
        && !ThinkingControls.of(args).disabled()) {
      passed.put("require_reasoning", true);
    }
  }

  private static void put(Map<String, Object> to, String name, Map<String, Object> value) {
    if (!value.isEmpty()) {
      to.put(name, value);
    }
  }

  private static Map<String, Object> hints(GenerationFields fields, ServedModel model) {
    var hints = fields.nvext().routing().hints();
    var adapter = model.adapter();
    if (adapter != null) {
      hints.put("lora_name", adapter);
    }
    return hints;
  }

  /** Returns the rank named with a worker; null when no worker is named. */
  private static @Nullable Integer rank(GenerationFields fields) {
    var options = fields.nvext().routing();
    var rank = options.rank();
    return rank == null || options.worker() == null
        ? null
        : (Integer) (int) Math.min(Integer.MAX_VALUE, rank);
  }

  private static SamplingOptions seeded(SamplingOptions sampling, int choice) {
    var seed = sampling.seed();
    return seed == null || choice == 0 ? sampling : sampling.withSeed(seed + choice);
  }

  /** Requests log probabilities when the best of several texts must be chosen. */
  private static OutputOptions rated(GenerationFields fields, int texts) {
    var output = fields.output();
    return texts <= fields.choices() || output.logprobs() != null
        ? output
        : new OutputOptions(
            0,
            output.promptLogprobs(),
            output.skipSpecialTokens(),
            output.formattedPrompt(),
            output.tokensAsIds());
  }

  /**
   * Refuses a prompt that the model cannot take.
   *
   * @param field of the prompt in the request
   * @throws ApiException with 400
   */
  static void check(
      GenerationFields fields, ServedModel model, PreparedPrompt prompt, String field) {
    if (prompt.tokens().length == 0) {
      throw new ApiException(
          new ApiError(400, "the prompt has no tokens; say something", null, field, null));
    }
    int known = model.text().tokens().size();
    for (int id : prompt.tokens()) {
      if (Integer.compareUnsigned(id, known) >= 0) {
        throw new ApiException(
            new ApiError(
                400,
                "token id %s of the prompt is beyond the vocabulary of %d tokens"
                    .formatted(Integer.toUnsignedString(id), known),
                "invalid_token_id",
                field,
                null));
      }
    }
    TokenBudget.of(model.card()).check(prompt.tokens().length, fields.stop().maxTokens(), field);
  }
}
