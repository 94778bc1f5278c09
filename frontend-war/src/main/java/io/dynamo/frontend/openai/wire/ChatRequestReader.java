package io.dynamo.frontend.openai.wire;

import com.fasterxml.jackson.databind.JsonNode;
import io.dynamo.frontend.ApiError;
import io.dynamo.frontend.ApiException;
import java.math.BigDecimal;
import java.util.ArrayList;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.Set;
import java.util.TreeSet;
import org.jspecify.annotations.Nullable;

/**
 * Reads a chat completion request and refuses what is out of bounds, in Dynamo's order and words:
 * the body's shape first, then keys that nobody knows, then values.
 */
public final class ChatRequestReader {
  private static final int MAX_STOPS = 32;
  private static final int MAX_STOP_CHARACTERS = 1024; // compared with every token's text
  private static final int MAX_STOP_IDS = 1024; // compared with every token
  private static final Integer ALL_TOP_K = -1;
  private static final long MAX_TOKENS = 1_048_576;
  private static final long U32 = 0xFFFF_FFFFL;
  private static final Set<String> TIERS =
      Set.of("auto", "default", "flex", "scale", "priority", "fast");

  private static final Set<String> KNOWN =
      Set.of(
          "messages",
          "model",
          "max_tokens",
          "max_completion_tokens",
          "min_tokens",
          "temperature",
          "top_p",
          "top_k",
          "min_p",
          "frequency_penalty",
          "presence_penalty",
          "repetition_penalty",
          "seed",
          "stop",
          "stop_token_ids",
          "ignore_eos",
          "stream",
          "stream_options",
          "n",
          "tools",
          "tool_choice",
          "parallel_tool_calls",
          "chat_template_args",
          "chat_template_kwargs",
          "include_stop_str_in_output",
          "skip_special_tokens",
          "user",
          "metadata",
          "store",
          "service_tier",
          "prompt_cache_key");

  private ChatRequestReader() {}

  /** Whether a stream is asked for, as far as a body tells that may be wrong elsewhere. */
  public static boolean asksForStream(JsonNode body) {
    return body.path("stream").asBoolean(false);
  }

  /** The model that is asked for. */
  public static String model(JsonNode body) {
    return Fields.of(body, "").requireString("model");
  }

  /**
   * Reads and checks.
   *
   * @throws ApiException with 400, or 501 for what OpenAI has given up
   */
  public static ChatRequest read(JsonNode body) {
    var fields = Fields.of(body, "");
    var toolFaults = new ArrayList<String>();
    var historyFaults = new ArrayList<String>();
    var messages = messages(fields, historyFaults);
    var model = fields.requireString("model");
    var stops = new ArrayList<String>();
    var stopIds = new ArrayList<Integer>();
    stops(fields, stops, stopIds);
    var n = fields.whole("n", 0, 255);
    var maxTokens = fields.whole("max_tokens", 0, U32);
    var maxCompletion = fields.whole("max_completion_tokens", 0, U32);
    var minTokens = fields.whole("min_tokens", 0, U32);
    var topK = fields.whole("top_k", Integer.MIN_VALUE, Integer.MAX_VALUE);
    var seed = fields.whole("seed", Long.MIN_VALUE, Long.MAX_VALUE);
    var temperature = fields.decimal("temperature");
    var topP = fields.decimal("top_p");
    var minP = fields.decimal("min_p");
    var frequency = fields.decimal("frequency_penalty");
    var presence = fields.decimal("presence_penalty");
    var repetition = fields.decimal("repetition_penalty");
    boolean stream = fields.bool("stream");
    var options = fields.get("stream_options");
    var streamOptions = options == null ? null : Fields.of(options, "stream_options");
    var tools = ChatTools.read(fields, toolFaults);
    var templateArgs = templateArgs(fields);
    ignored(fields);

    if (messages.isEmpty()) {
      throw refuse(
          "messages", "The 'messages' field cannot be empty. At least one message is required.");
    }
    if (streamOptions != null && !stream) {
      throw refuse(
          "stream_options",
          "The 'stream_options' field is only allowed when 'stream' is set to true.");
    }
    refuseUnsupported(body);
    refuseFirst("messages", historyFaults);
    checkCount(n, temperature);
    between("temperature", "Temperature", temperature, "0", "2", true);
    between("top_p", "Top_p", topP, "0", "1", false);
    between("frequency_penalty", "Frequency penalty", frequency, "-2", "2", true);
    between("presence_penalty", "Presence penalty", presence, "-2", "2", true);
    between("repetition_penalty", "Repetition penalty", repetition, "0", "2", false);
    between("min_p", "Min_p", minP, "0", "1", true);
    if (topK != null && topK < -1) {
      throw refuse("top_k", "Top_k must be null or greater than or equal to -1");
    }
    if (model.isBlank()) {
      throw refuse("model", "Model cannot be empty");
    }
    var user = fields.string("user");
    if (user != null && user.isBlank()) {
      throw refuse("user", "User ID cannot be empty");
    }
    for (int i = 0; i < stops.size(); i++) {
      if (stops.get(i).isEmpty()) {
        throw refuse("stop", "Stop sequence at index " + i + " cannot be empty");
      }
      if (stops.get(i).length() > MAX_STOP_CHARACTERS) {
        throw refuse(
            "stop",
            "Stop sequence at index %d must not exceed %d characters, got %d"
                .formatted(i, MAX_STOP_CHARACTERS, stops.get(i).length()));
      }
    }
    checkBudget("max_tokens", "Max tokens", maxTokens);
    checkBudget("max_completion_tokens", "Max completion tokens", maxCompletion);
    refuseFirst("tools", toolFaults);
    if (templateArgs.containsKey("chat_template")) {
      throw refuse(
          "chat_template_args", "`chat_template` is not supported inside `chat_template_args`");
    }
    boolean usage = streamOptions != null && streamOptions.bool("include_usage");
    return new ChatRequest(
        model,
        messages,
        asInt(maxCompletion == null ? maxTokens : maxCompletion),
        minTokens == null ? null : (int) Math.min(Integer.MAX_VALUE, minTokens),
        asFloat(temperature),
        asFloat(topP),
        topK != null && topK == 0 ? ALL_TOP_K : asInt(topK),
        asFloat(minP),
        asFloat(frequency),
        asFloat(presence),
        asFloat(repetition),
        seed,
        stops,
        stopIds,
        fields.bool("ignore_eos"),
        stream,
        usage,
        usage && streamOptions != null && streamOptions.bool("continuous_usage_stats"),
        fields.bool("include_stop_str_in_output"),
        fields.optionalBool("skip_special_tokens"),
        tools,
        templateArgs);
  }

  private static List<ChatMessage> messages(Fields fields, List<String> faults) {
    var list = fields.require("messages");
    if (!list.isArray()) {
      throw Fields.wrong("messages", list, "a sequence");
    }
    var messages = new ArrayList<ChatMessage>(list.size());
    for (int i = 0; i < list.size(); i++) {
      messages.add(ChatMessage.read(list.get(i), "messages[" + i + "]", faults));
    }
    return messages;
  }

  private static void stops(Fields fields, List<String> strings, List<Integer> ids) {
    var stop = fields.get("stop");
    if (stop != null && stop.isTextual()) {
      strings.add(stop.textValue());
    } else if (stop != null) {
      boolean allIds = stop.isArray() && !stop.isEmpty() && isId(stop.get(0));
      if (!stop.isArray()) {
        throw Fields.wrong("stop", stop, "a string, a list of strings or a list of token ids");
      }
      if (stop.size() > MAX_STOPS) {
        throw new ApiException(
            new ApiError(
                400,
                "Maximum of %d stop sequences allowed, got %d".formatted(MAX_STOPS, stop.size()),
                null,
                "stop",
                null));
      }
      for (int i = 0; i < stop.size(); i++) {
        var element = stop.get(i);
        if (allIds && isId(element)) {
          ids.add((int) element.longValue());
        } else if (!allIds && element.isTextual()) {
          strings.add(element.textValue());
        } else {
          throw Fields.wrong("stop[" + i + "]", element, allIds ? "a token id" : "a string");
        }
      }
    }
    var more = fields.get("stop_token_ids");
    if (more == null) {
      return;
    }
    if (more.size() > MAX_STOP_IDS) {
      throw refuse(
          "stop_token_ids",
          "Maximum of %d stop token IDs allowed, got %d".formatted(MAX_STOP_IDS, more.size()));
    }
    boolean own = ids.isEmpty(); // ids in `stop` win
    boolean valid = more.isArray();
    for (var element : more) {
      valid &= isId(element);
      if (valid && own) {
        ids.add((int) element.longValue());
      }
    }
    if (!valid) {
      throw refuse("stop_token_ids", "`stop_token_ids` must be an array of token IDs");
    }
  }

  private static boolean isId(JsonNode node) {
    return node.isIntegralNumber()
        && node.canConvertToLong()
        && node.longValue() >= 0
        && node.longValue() <= U32;
  }

  private static Map<String, Object> templateArgs(Fields fields) {
    var args = fields.map("chat_template_args");
    var kwargs = fields.map("chat_template_kwargs");
    if (!args.isEmpty() && !kwargs.isEmpty()) {
      throw JsonBody.shape(
          "duplicate field `chat_template_args`; `chat_template_kwargs` is its alias");
    }
    return new LinkedHashMap<>(args.isEmpty() ? kwargs : args);
  }

  /** Fields that change nothing here; a wrong type is refused all the same. */
  private static void ignored(Fields fields) {
    fields.bool("store");
    fields.bool("parallel_tool_calls");
    fields.string("prompt_cache_key");
    var tier = fields.string("service_tier");
    if (tier != null && !TIERS.contains(tier)) {
      throw JsonBody.shape(
          "service_tier: unknown variant `%s`, expected one of `auto`, `default`, `flex`, `scale`, `priority`, `fast`"
              .formatted(tier));
    }
  }

  private static void refuseUnsupported(JsonNode body) {
    for (var gone : List.of("function_call", "functions")) {
      if (body.hasNonNull(gone)) {
        throw new ApiException(
            new ApiError(
                501,
                "Validation: `%s` is deprecated. Please migrate to use `%s` instead."
                    .formatted(gone, gone.equals("functions") ? "tools" : "tool_choice"),
                null,
                gone,
                null));
      }
    }
    var unknown = new TreeSet<String>();
    for (var entry : body.properties()) {
      if (!KNOWN.contains(entry.getKey()) && !saysNothing(entry.getKey(), entry.getValue())) {
        unknown.add("`" + entry.getKey() + "`");
      }
    }
    if (!unknown.isEmpty()) {
      throw refuse(null, "Unsupported parameter(s): " + String.join(", ", unknown));
    }
  }

  /** Values that ask for what happens anyway, as client libraries send them. */
  private static boolean saysNothing(String name, JsonNode value) {
    return switch (name) {
      case "logprobs" -> value.isNull() || (value.isBoolean() && !value.booleanValue());
      case "top_logprobs", "logit_bias" -> value.isNull();
      case "response_format" ->
          value.isNull() || (value.size() == 1 && value.path("type").asText().equals("text"));
      default -> false;
    };
  }

  private static void refuseFirst(String param, List<String> faults) {
    if (!faults.isEmpty()) {
      throw refuse(param, faults.getFirst());
    }
  }

  private static void checkCount(@Nullable Long n, @Nullable BigDecimal temperature) {
    if (n == null) {
      return;
    }
    if (n < 1 || n > 128) {
      throw refuse("n", "n must be between 1 and 128, got " + n);
    }
    if (n > 1 && temperature != null && temperature.signum() == 0) {
      throw refuse(
          "n",
          ("When n > 1, temperature must be greater than 0 to ensure diverse outputs. Got n=%d,"
                  + " temperature=0")
              .formatted(n));
    }
    if (n > 1) {
      throw refuse("n", "n must be 1: more than one choice is not supported, got " + n);
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
          param,
          "%s must be between %s and %s, got %s"
              .formatted(label, low, high, value.stripTrailingZeros().toPlainString()));
    }
  }

  private static void checkBudget(String param, String label, @Nullable Long tokens) {
    if (tokens != null && tokens < 1) {
      throw refuse(param, label + " must be greater than 0, got " + tokens);
    }
    if (tokens != null && tokens > MAX_TOKENS) {
      throw refuse(param, label + " must not exceed " + MAX_TOKENS + ", got " + tokens);
    }
  }

  private static ApiException refuse(@Nullable String param, String message) {
    return new ApiException(new ApiError(400, "Validation: " + message, null, param, null));
  }

  private static @Nullable Integer asInt(@Nullable Long value) {
    return value == null ? null : (Integer) Math.toIntExact(value);
  }

  private static @Nullable Float asFloat(@Nullable BigDecimal value) {
    return value == null ? null : (Float) value.floatValue();
  }
}
