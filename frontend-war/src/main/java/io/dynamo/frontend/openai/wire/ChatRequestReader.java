package io.dynamo.frontend.openai.wire;

import com.fasterxml.jackson.databind.JsonNode;
import io.dynamo.frontend.ApiError;
import io.dynamo.frontend.ApiException;
import io.dynamo.inference.PassedOn;
import java.util.ArrayList;
import java.util.HashSet;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.Set;
import org.jspecify.annotations.Nullable;

/**
 * Reads a chat completion request and refuses what is out of bounds, in Dynamo's order and words:
 * types of fields first, then unknown keys, then values.
 */
public final class ChatRequestReader {
  private static final int MAX_TOP_LOGPROBS = 20;
  private static final Set<String> TIERS =
      Set.of("auto", "default", "flex", "scale", "priority", "fast");

  /** Template arguments that have a checked field of their own in requests. */
  private static final List<String> NO_TEMPLATE_ARGS =
      List.of("chat_template", "messages", "tools");

  private static final Set<String> KNOWN =
      Set.of(
          "messages",
          "function_call", // refused as given up, unless null
          "functions",
          "max_completion_tokens",
          "top_logprobs",
          "response_format",
          "tools",
          "tool_choice",
          "parallel_tool_calls",
          "chat_template_args",
          "chat_template_kwargs",
          "add_generation_prompt",
          "continue_final_message",
          "reasoning_effort",
          "thinking",
          "mm_processor_kwargs",
          "media_io_kwargs",
          "modalities",
          "prediction",
          "audio",
          "web_search_options",
          "store",
          "service_tier",
          "prompt_cache_key");

  private ChatRequestReader() {}

  /** The top-level fields of the API. */
  public static Set<String> names() {
    return both(KNOWN);
  }

  /** {@code own} fields and those that the APIs share. */
  static Set<String> both(Set<String> own) {
    var names = new HashSet<>(own);
    names.addAll(GenerationReader.KNOWN);
    return names;
  }

  /** Whether a top-level field is one of the API's. */
  public static boolean knows(String field) {
    return KNOWN.contains(field) || GenerationReader.KNOWN.contains(field);
  }

  /**
   * Reads and checks.
   *
   * @throws ApiException with 400, or 501 for what OpenAI has given up
   */
  public static ChatRequest read(JsonNode body) {
    var fields = JsonFields.of(body, "");
    var toolFaults = new ArrayList<String>();
    var historyFaults = new ArrayList<String>();
    var media = new MediaSlots();
    var messages = messages(fields, media, historyFaults);
    var common = new GenerationReader(fields, true);
    boolean logprobs = fields.bool("logprobs");
    var top = fields.integer("top_logprobs", 0, 255);
    var tools = ChatTools.read(fields, toolFaults);
    var parallel = fields.optionalBool("parallel_tool_calls");
    var reasoning = new ReasoningControls(fields);
    var templateArgs = templateArgs(fields);
    var addPrompt = fields.optionalBool("add_generation_prompt");
    boolean continueFinal = fields.bool("continue_final_message");
    var passedOn = passedOn(fields);
    ignored(fields);

    templateArgs = reasoning.addTo(templateArgs);
    refuseGivenUp(body);
    if (messages.isEmpty()) {
      throw GenerationReader.refuse(
          "messages", "The 'messages' field cannot be empty. At least one message is required.");
    }
    common.checkStreamOptions();
    common.checkKeys(KNOWN);
    GenerationReader.refuseFirst("messages", historyFaults);
    common.checkValues();
    if (top != null && top > MAX_TOP_LOGPROBS) {
      throw GenerationReader.refuse(
          "top_logprobs",
          "Top_logprobs must be between 0 and " + MAX_TOP_LOGPROBS + ", got " + top);
    }
    GenerationReader.refuseFirst("tools", toolFaults);
    for (var name : NO_TEMPLATE_ARGS) {
      if (templateArgs.containsKey(name)) {
        throw GenerationReader.refuse(
            "chat_template_args", "`" + name + "` is not supported inside `chat_template_args`");
      }
    }
    if (continueFinal && !Boolean.FALSE.equals(addPrompt)) {
      throw GenerationReader.refuse(
          "continue_final_message",
          "Cannot set both `continue_final_message` and `add_generation_prompt` to True.");
    }
    return new ChatRequest(
        common.build(
            alternatives(logprobs, top),
            common.promptLogprobs(),
            Map.of(),
            passedOn,
            tools.forcedForm(Boolean.FALSE.equals(parallel))),
        messages,
        tools.tools(),
        tools.choice(),
        !Boolean.FALSE.equals(parallel),
        templateArgs,
        !Boolean.FALSE.equals(addPrompt),
        continueFinal,
        media.passedOn(body),
        media.parts(),
        responseFormat(fields));
  }

  /**
   * The number of alternatives per token; 1 when only log probabilities are requested, as in
   * Dynamo.
   */
  private static @Nullable Integer alternatives(boolean logprobs, @Nullable Integer top) {
    return logprobs ? (Integer) (top == null ? 1 : (int) top) : null;
  }

  private static List<ChatMessage> messages(
      JsonFields fields, MediaSlots media, List<String> faults) {
    var list = fields.require("messages");
    if (!list.isArray()) {
      throw JsonFields.wrong("messages", list, "a sequence");
    }
    var messages = new ArrayList<ChatMessage>(list.size());
    for (int i = 0; i < list.size(); i++) {
      messages.add(ChatMessage.read(list.get(i), "messages[" + i + "]", media, faults));
    }
    return messages;
  }

  private static @Nullable Map<String, Object> responseFormat(JsonFields fields) {
    var format = fields.map("response_format");
    return format.isEmpty() || "text".equals(format.get("type")) ? null : format;
  }

  private static Map<String, Object> templateArgs(JsonFields fields) {
    var args = fields.map("chat_template_args");
    var kwargs = fields.map("chat_template_kwargs");
    if (!args.isEmpty() && !kwargs.isEmpty()) {
      throw JsonBody.invalidBody(
          "duplicate field `chat_template_args`; `chat_template_kwargs` is its alias");
    }
    return args.isEmpty() ? kwargs : args;
  }

  private static PassedOn passedOn(JsonFields fields) {
    var options = new LinkedHashMap<String, Object>();
    for (var name : List.of("mm_processor_kwargs", "media_io_kwargs")) {
      if (fields.get(name) != null) {
        options.put(name, fields.map(name));
      }
    }
    return PassedOn.of(options);
  }

  /** Reads fields that have no effect here; a wrong type is refused all the same. */
  private static void ignored(JsonFields fields) {
    fields.bool("store");
    fields.string("prompt_cache_key");
    fields.strings("modalities");
    fields.map("prediction");
    fields.map("audio");
    fields.map("web_search_options");
    var tier = fields.string("service_tier");
    if (tier != null && !TIERS.contains(tier)) {
      throw JsonBody.invalidBody(
          "service_tier: unknown variant `%s`, expected one of `auto`, `default`, `flex`, `scale`, `priority`, `fast`"
              .formatted(JsonFields.clipped(tier)));
    }
  }

  private static void refuseGivenUp(JsonNode body) {
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
  }
}
