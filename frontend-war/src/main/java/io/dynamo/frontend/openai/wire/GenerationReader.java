package io.dynamo.frontend.openai.wire;

import io.dynamo.frontend.ApiError;
import io.dynamo.frontend.ApiException;
import io.dynamo.inference.OutputOptions;
import io.dynamo.inference.PassedOn;
import io.dynamo.inference.SamplingOptions;
import io.dynamo.inference.StopConditions;
import java.math.BigDecimal;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.Set;
import java.util.TreeSet;
import org.jspecify.annotations.Nullable;

/**
 * Reads the fields that chat and completions share. The constructor refuses wrong types; {@link
 * #checkValues} refuses values out of bounds, in Dynamo's order and words.
 */
final class GenerationReader {
  /** The top-level keys that this class reads. */
  static final Set<String> KNOWN =
      Set.of(
          "model",
          "max_tokens",
          "min_tokens",
          "temperature",
          "top_p",
          "top_k",
          "min_p",
          "frequency_penalty",
          "presence_penalty",
          "repetition_penalty",
          "seed",
          "n",
          "stop",
          "stop_token_ids",
          "ignore_eos",
          "stream",
          "stream_options",
          "include_stop_str_in_output",
          "skip_special_tokens",
          "prompt_logprobs",
          "return_tokens_as_token_ids",
          "logit_bias",
          "guided_json",
          "guided_regex",
          "guided_choice",
          "guided_grammar",
          "guided_decoding_backend",
          "guided_whitespace_pattern",
          "cache_salt",
          "detokenize",
          "allowed_token_ids",
          "bad_words_token_ids",
          "logprob_token_ids",
          "logprobs",
          "user",
          "metadata",
          "nvext");

  private static final Integer ALL_TOP_K = -1;
  private static final Integer ONE = 1;
  private static final long MAX_TOKENS = 1_048_576;
  private static final int MAX_CHOICES = 128;
  private static final long U32 = 0xFFFF_FFFFL;

  private final JsonFields fields;
  private final String model;
  private final StopFields stops;
  private final GuidedFields guided;
  private final EngineFields engine;
  private final StreamOptions stream;
  private final Nvext nvext;
  private final @Nullable Integer n;
  private final @Nullable Long maxTokens;
  private final @Nullable Long maxCompletionTokens;
  private final @Nullable Long minTokens;
  private final @Nullable Integer topK;
  private final @Nullable Long seed;
  private final @Nullable BigDecimal temperature;
  private final @Nullable BigDecimal topP;
  private final @Nullable BigDecimal minP;
  private final @Nullable BigDecimal frequency;
  private final @Nullable BigDecimal presence;
  private final @Nullable BigDecimal repetition;
  private final @Nullable Integer promptLogprobs;

  /**
   * @param chat whether the fields that only chat has are read too
   */
  GenerationReader(JsonFields fields, boolean chat) {
    this.fields = fields;
    model = fields.requireString("model");
    stops = new StopFields(fields);
    n = fields.integer("n", 0, 255);
    maxTokens = fields.whole("max_tokens", 0, U32);
    maxCompletionTokens = chat ? fields.whole("max_completion_tokens", 0, U32) : null;
    minTokens = fields.whole("min_tokens", 0, U32);
    topK = fields.integer("top_k", Integer.MIN_VALUE, Integer.MAX_VALUE);
    seed = fields.whole("seed", Long.MIN_VALUE, Long.MAX_VALUE);
    temperature = fields.decimal("temperature");
    topP = fields.decimal("top_p");
    minP = fields.decimal("min_p");
    frequency = fields.decimal("frequency_penalty");
    presence = fields.decimal("presence_penalty");
    repetition = fields.decimal("repetition_penalty");
    promptLogprobs = fields.integer("prompt_logprobs", 0, Integer.MAX_VALUE);
    guided = new GuidedFields(fields, chat);
    stream = StreamOptions.read(fields);
    nvext = Nvext.read(fields);
    engine = new EngineFields(fields);
    fields.bool("ignore_eos");
    fields.bool("include_stop_str_in_output");
    fields.optionalBool("skip_special_tokens");
    fields.optionalBool("return_tokens_as_token_ids");
    fields.string("user");
  }

  StreamOptions stream() {
    return stream;
  }

  @Nullable Integer promptLogprobs() {
    return promptLogprobs;
  }

  int choices() {
    return n == null ? 1 : n;
  }

  /** Refuses stream options without a stream. */
  void checkStreamOptions() {
    if (fields.get("stream_options") != null && !stream.events()) {
      throw refuse(
          "stream_options",
          "The 'stream_options' field is only allowed when 'stream' is set to true.");
    }
  }

  /** Refuses keys that are neither common nor in {@code own}. */
  void checkKeys(Set<String> own) {
    var unknown = new TreeSet<String>();
    for (var entry : fields.object().properties()) {
      if (!KNOWN.contains(entry.getKey()) && !own.contains(entry.getKey())) {
        unknown.add("`" + JsonFields.clipped(entry.getKey()) + "`");
      }
    }
    if (!unknown.isEmpty()) {
      throw refuse(
          null, "Unsupported parameter(s): " + JsonFields.clippedList(String.join(", ", unknown)));
    }
  }

  /** Refuses values out of bounds. */
  void checkValues() {
    checkCount();
    between("temperature", "Temperature", temperature, "0", "2", true);
    between("top_p", "Top_p", topP, "0", "1", false);
    between("frequency_penalty", "Frequency penalty", frequency, "-2", "2", true);
    between("presence_penalty", "Presence penalty", presence, "-2", "2", true);
    between("repetition_penalty", "Repetition penalty", repetition, "0", "2", false);
    between("min_p", "Min_p", minP, "0", "1", true);
    if (topK != null && topK < -1) {
      throw refuse("top_k", "Top_k must be null or greater than or equal to -1");
    }
    engine.checkBias();
    if (model.isBlank()) {
      throw refuse("model", "Model cannot be empty");
    }
    var user = fields.string("user");
    if (user != null && user.isBlank()) {
      throw refuse("user", "User ID cannot be empty");
    }
    stops.check();
    checkBudget("max_tokens", "Max tokens", maxTokens);
    checkBudget("max_completion_tokens", "Max completion tokens", maxCompletionTokens);
    engine.checkPassedOn();
    var fault = guided.fault();
    if (fault != null) {
      throw refuse(null, fault);
    }
    if (choices() > 1 && nvext.extraFields().contains("completion_token_ids")) {
      throw refuse(
          "nvext.extra_fields",
          "`nvext.extra_fields=[\"completion_token_ids\"]` requires exactly one generated choice");
    }
  }

  /**
   * Returns the fields, after every check.
   *
   * @param logprobs alternatives per token, null for none
   * @param promptLogprobs the same for the prompt
   * @param more options that only this API knows, for the engine
   * @param passedOn options for media
   * @param forcedForm a JSON schema that takes precedence over the requested form, null for none
   */
  GenerationFields build(
      @Nullable Integer logprobs,
      @Nullable Integer promptLogprobs,
      Map<String, Object> more,
      PassedOn passedOn,
      @Nullable Object forcedForm) {
    boolean endless = fields.bool("ignore_eos");
    var budget = maxCompletionTokens == null ? maxTokens : maxCompletionTokens;
    var options = new LinkedHashMap<>(engine.options());
    options.putAll(more);
    boolean greedy = nvext.greedy();
    return new GenerationFields(
        model,
        choices(),
        new StopConditions(
            budget == null ? null : (Integer) Math.toIntExact(budget),
            endless ? List.of() : stops.strings(),
            endless ? List.of() : stops.ids(),
            List.of(),
            List.of(),
            minTokens == null ? null : (Integer) (int) Math.min(Integer.MAX_VALUE, minTokens),
            endless,
            nvext.maxThinkingTokens()),
        new SamplingOptions(
            n == null ? null : ONE,
            greedy ? null : asFloat(temperature),
            greedy ? null : asFloat(topP),
            topK != null && topK == 0 ? ALL_TOP_K : topK,
            asFloat(minP),
            asFloat(frequency),
            asFloat(presence),
            asFloat(repetition),
            seed,
            fields.bool("include_stop_str_in_output") ? Boolean.TRUE : null,
            guided.demand(forcedForm),
            PassedOn.NONE),
        new OutputOptions(
            logprobs,
            promptLogprobs,
            fields.optionalBool("skip_special_tokens"),
            null,
            fields.optionalBool("return_tokens_as_token_ids")),
        stream,
        salted(),
        options,
        passedOn);
  }

  /** The extension, with the salt of the top level where it has none of its own. */
  private Nvext salted() {
    var salt = engine.cacheSalt();
    return salt == null
        ? nvext
        : nvext.withRouting(RoutingOptions.ofSalt(salt).under(nvext.routing()));
  }

  private void checkCount() {
    if (n == null) {
      return;
    }
    if (n < 1 || n > MAX_CHOICES) {
      throw refuse("n", "n must be between 1 and " + MAX_CHOICES + ", got " + n);
    }
    if (n > 1 && temperature != null && temperature.signum() == 0) {
      throw refuse(
          "n",
          ("When n > 1, temperature must be greater than 0 to ensure diverse outputs. Got n=%d,"
                  + " temperature=0")
              .formatted(n));
    }
  }

  private static void between(
      String param,
      String label,
      @Nullable BigDecimal value,
      String low,
      String high,
      boolean lowIncluded) {
    if (value == null) {
      return;
    }
    int over = value.compareTo(new BigDecimal(low));
    if (over < 0 || (over == 0 && !lowIncluded) || value.compareTo(new BigDecimal(high)) > 0) {
      throw refuse(
          param, "%s must be between %s and %s, got %s".formatted(label, low, high, plain(value)));
    }
  }

  /** A number in its shortest spelling, or as it came when that is long. */
  static String plain(BigDecimal value) {
    return Math.abs(value.scale()) + value.precision() > 40
        ? JsonFields.clipped(value.toString())
        : value.stripTrailingZeros().toPlainString();
  }

  private static void checkBudget(String param, String label, @Nullable Long tokens) {
    if (tokens != null && tokens < 1) {
      throw refuse(param, label + " must be greater than 0, got " + tokens);
    }
    if (tokens != null && tokens > MAX_TOKENS) {
      throw refuse(param, label + " must not exceed " + MAX_TOKENS + ", got " + tokens);
    }
  }

  /** A refusal with Dynamo's prefix. */
  static ApiException refuse(@Nullable String param, String message) {
    return refusePlainly(param, "Validation: " + message);
  }

  /** A refusal without Dynamo's prefix. */
  static ApiException refusePlainly(@Nullable String param, String message) {
    return new ApiException(new ApiError(400, message, null, param, null));
  }

  /** Refuses the first of {@code faults}, if there is one. */
  static void refuseFirst(@Nullable String param, List<String> faults) {
    if (!faults.isEmpty()) {
      throw refuse(param, faults.getFirst());
    }
  }

  private static @Nullable Float asFloat(@Nullable BigDecimal value) {
    return value == null ? null : (Float) value.floatValue();
  }
}
