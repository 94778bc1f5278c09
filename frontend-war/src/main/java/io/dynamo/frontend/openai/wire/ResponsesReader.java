package io.dynamo.frontend.openai.wire;

import com.fasterxml.jackson.databind.JsonNode;
import com.fasterxml.jackson.databind.node.ObjectNode;
import io.dynamo.frontend.ApiError;
import io.dynamo.frontend.ApiException;
import java.util.List;
import java.util.Set;
import java.util.TreeSet;
import org.jspecify.annotations.Nullable;

/**
 * Reads requests of OpenAI's Responses API: puts them into chat's form and has that read, so that
 * every bound of chat holds. Keys that are not known are refused by name.
 */
public final class ResponsesReader {
  private static final String PREVIOUS = "previous_response_id";
  private static final String CONVERSATION = "conversation";

  private static final List<String> AS_IN_CHAT =
      List.of(
          "model",
          "temperature",
          "top_p",
          "parallel_tool_calls",
          "stream",
          "service_tier",
          "store",
          "prompt_cache_key",
          "metadata",
          "user",
          "nvext");

  /** Read here, or checked without effect. */
  private static final Set<String> OWN =
      Set.of(
          "input",
          "instructions",
          "max_output_tokens",
          "tools",
          "tool_choice",
          "text",
          "reasoning",
          "include",
          "truncation",
          "stream_options",
          "prompt_cache_retention",
          "safety_identifier",
          "top_logprobs",
          "background",
          PREVIOUS,
          CONVERSATION,
          "prompt",
          "max_tool_calls");

  /** Fields of the API that are not offered, unless null. */
  private static final List<String> NOT_OFFERED = List.of("prompt", "max_tool_calls");

  private static final Set<String> EXTRA_NOT_OFFERED =
      Set.of("completion_token_ids", "prompt_logprobs");

  private ResponsesReader() {}

  /** The top-level fields that are read. */
  public static Set<String> names() {
    var names = new TreeSet<>(OWN);
    names.addAll(AS_IN_CHAT);
    return names;
  }

  /** Whether a top-level field is one of the API's. */
  public static boolean knows(String field) {
    return OWN.contains(field) || AS_IN_CHAT.contains(field);
  }

  /**
   * A checked request.
   *
   * @param echo the part of the answer that repeats it
   * @param recorder stores the answer; null when it is not stored
   */
  public record Read(ChatRequest chat, ResponsesEcho echo, @Nullable AnswerRecorder recorder) {
    /** Creates the writer of the answer. */
    public AnswerFormat answer(String requestId, long createdSeconds, String model) {
      return new ResponsesAnswer(requestId, createdSeconds, model, echo, recorder);
    }

    /** Creates a writer of the same answer that stores nothing. Ids of items are its own. */
    public AnswerFormat copy(String requestId, long createdSeconds, String model) {
      return new ResponsesAnswer(
          requestId,
          createdSeconds,
          model,
          echo,
          recorder == null ? null : new UnstoredAnswer(recorder.id(), recorder.storesResponse()));
    }
  }

  /**
   * Reads and checks.
   *
   * @throws ApiException with 400, or 501 for what is not offered
   */
  public static Read read(JsonNode body, Continuation continuation) {
    var fields = JsonFields.of(body, "");
    refuseUnknown(fields);
    refuseNotOffered(fields);
    if (fields.string(PREVIOUS) != null && !continuation.known()) {
      throw notOffered(PREVIOUS, "`" + PREVIOUS + "` is not supported."); // none are stored
    }
    var conversation = conversation(body);
    if (conversation != null && !continuation.known()) {
      throw notOffered(CONVERSATION, "`" + CONVERSATION + "` is not supported.");
    }
    var chat = JsonText.MAPPER.createObjectNode();
    for (var name : AS_IN_CHAT) {
      var value = fields.get(name);
      if (value != null) {
        chat.set(name, value);
      }
    }
    var budget = fields.get("max_output_tokens");
    if (budget != null) {
      fields.whole("max_output_tokens", 0, 0xFFFF_FFFFL);
      chat.set("max_tokens", budget);
    }
    ResponsesInput.addTo(chat, fields, continuation.earlier());
    ResponsesTools.addTo(chat, fields);
    form(fields, chat);
    reasoning(fields, chat);
    ignored(fields);
    try {
      var recorder = continuation.recorder();
      return new Read(
          ChatRequestReader.read(chat),
          ResponsesEcho.of(fields, recorder != null && recorder.storesResponse(), conversation),
          recorder);
    } catch (ApiException e) {
      throw renamed(e.error());
    }
  }

  /**
   * The id of the conversation that a request continues; null for none.
   *
   * @throws ApiException with 400
   */
  public static @Nullable String conversation(JsonNode body) {
    var given = body.get(CONVERSATION);
    if (given == null || given.isNull()) {
      return null;
    }
    if (body.hasNonNull(PREVIOUS)) {
      throw GenerationReader.refuse(
          CONVERSATION,
          "`conversation` and `previous_response_id` exclude each other; send one of them");
    }
    if (given.isTextual()) {
      return given.textValue();
    }
    if (!given.isObject()) {
      throw JsonFields.wrong(CONVERSATION, given, "a string or a map");
    }
    var fields = JsonFields.of(given, CONVERSATION);
    fields.onlyKnown(List.of("id"));
    return fields.requireString("id");
  }

  private static ApiException renamed(ApiError error) {
    var param = error.param();
    return new ApiException(
        new ApiError(
            error.status(),
            error.message(),
            error.code(),
            "max_tokens".equals(param)
                ? "max_output_tokens"
                : "messages".equals(param) ? "input" : param,
            error.retryAfterSeconds(),
            error.limit()));
  }

  private static void refuseUnknown(JsonFields fields) {
    var unknown = new TreeSet<String>();
    for (var entry : fields.object().properties()) {
      if (!knows(entry.getKey())) {
        unknown.add("`" + JsonFields.clipped(entry.getKey()) + "`");
      }
    }
    if (!unknown.isEmpty()) {
      throw GenerationReader.refuse(
          null, "Unsupported parameter(s): " + JsonFields.clippedList(String.join(", ", unknown)));
    }
  }

  private static void refuseNotOffered(JsonFields fields) {
    if (fields.bool("background")) {
      throw notOffered("background", "`background: true` is not supported.");
    }
    for (var name : NOT_OFFERED) {
      if (fields.get(name) != null) {
        throw notOffered(name, "`" + name + "` is not supported.");
      }
    }
    var top = fields.integer("top_logprobs", 0, 20);
    if (top != null && top > 0) {
      throw notOffered("top_logprobs", "`top_logprobs` is not supported; chat has it.");
    }
    if (fields.strings("include").contains("message.output_text.logprobs")) {
      throw notOffered(
          "include", "`message.output_text.logprobs` is not supported; chat has them.");
    }
    var nvext = fields.get("nvext");
    if (nvext != null && nvext.path("extra_fields").isArray()) {
      for (var extra : nvext.get("extra_fields")) {
        if (extra.isTextual() && EXTRA_NOT_OFFERED.contains(extra.textValue())) {
          throw notOffered(
              "nvext.extra_fields",
              "`nvext.extra_fields=[\"%s\"]` is not supported by the Responses API."
                  .formatted(extra.textValue()));
        }
      }
    }
  }

  private static ApiException notOffered(String param, String message) {
    return new ApiException(new ApiError(501, "Validation: " + message, null, param, null));
  }

  private static void form(JsonFields fields, ObjectNode chat) {
    var node = fields.get("text");
    if (node == null) {
      return;
    }
    var text = JsonFields.of(node, "text");
    text.string("verbosity");
    var wanted = text.get("format");
    if (wanted == null) {
      return;
    }
    var format = JsonFields.of(wanted, "text.format");
    var type = format.requireString("type");
    var form = chat.putObject("response_format").put("type", type);
    if (type.equals("json_schema")) {
      form.putObject("json_schema")
          .put("name", format.requireString("name"))
          .set("schema", format.require("schema"));
    }
  }

  private static void reasoning(JsonFields fields, ObjectNode chat) {
    var node = fields.get("reasoning");
    if (node == null) {
      return;
    }
    var reasoning = JsonFields.of(node, "reasoning");
    reasoning.string("summary");
    reasoning.string("generate_summary");
    var effort = reasoning.string("effort");
    if (effort != null) {
      chat.put("reasoning_effort", effort);
    }
  }

  /** Checks the types of fields that have no effect here. */
  private static void ignored(JsonFields fields) {
    fields.string("truncation");
    fields.string("prompt_cache_retention");
    fields.string("safety_identifier");
    fields.map("stream_options");
  }
}
