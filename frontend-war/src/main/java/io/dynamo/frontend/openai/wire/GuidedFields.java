package io.dynamo.frontend.openai.wire;

import com.fasterxml.jackson.databind.JsonNode;
import io.dynamo.inference.GuidedDecoding;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import org.jspecify.annotations.Nullable;

/**
 * Reads the required form of an answer, {@code response_format} and {@code guided_*}; the values
 * are checked later.
 */
final class GuidedFields {
  static final List<String> NAMES =
      List.of(
          "guided_json",
          "guided_regex",
          "guided_choice",
          "guided_grammar",
          "guided_decoding_backend",
          "guided_whitespace_pattern");

  private static final int MAX_NESTING = 500; // brackets of a grammar

  private final @Nullable Object json;
  private final @Nullable String regex;
  private final List<String> choice;
  private final @Nullable String grammar;
  private final @Nullable String backend;
  private final @Nullable String whitespace;
  private @Nullable Object format; // the schema of response_format
  private @Nullable String fault;

  /**
   * @param responseFormat whether the API has {@code response_format}
   */
  GuidedFields(JsonFields fields, boolean responseFormat) {
    var schema = fields.get("guided_json");
    json = schema == null ? null : JsonFields.plainValue(schema);
    regex = fields.string("guided_regex");
    choice = fields.strings("guided_choice");
    grammar = fields.string("guided_grammar");
    backend = fields.string("guided_decoding_backend");
    whitespace = fields.string("guided_whitespace_pattern");
    var wanted = responseFormat ? fields.get("response_format") : null;
    if (wanted != null) {
      readFormat(wanted);
    }
  }

  private void readFormat(JsonNode node) {
    var fields = JsonFields.of(node, "response_format");
    var type = fields.requireString("type");
    switch (type) {
      case "text" -> {}
      case "json_object" -> format = Map.of("type", "object");
      case "json_schema" -> {
        var named = JsonFields.of(fields.require("json_schema"), "response_format.json_schema");
        var schema = named.require("schema");
        if (named.requireString("name").isEmpty()) {
          fault = "`response_format.json_schema.name` cannot be empty";
        } else if (!schema.isObject()) {
          fault = "`response_format.json_schema.schema` must be a JSON Schema object";
        }
        format = JsonFields.plainValue(schema);
      }
      default ->
          throw JsonBody.invalidBody(
              "response_format.type: unknown variant `%s`, expected one of `text`, `json_object`, `json_schema`"
                  .formatted(JsonFields.clipped(type)));
    }
  }

  /** The fault of the values, or null when they are valid. */
  @Nullable String fault() {
    if (fault == null && grammar != null && nesting(grammar) > MAX_NESTING) {
      return "guided_grammar nests brackets deeper than " + MAX_NESTING;
    }
    return fault == null ? GuidedDecoding.fault(choice) : fault;
  }

  /**
   * The one required form, or null for none.
   *
   * @param forced a schema that comes before {@code response_format}, null for none
   * @throws io.dynamo.frontend.ApiException with 400 when there are several
   */
  @Nullable GuidedDecoding demand(@Nullable Object forced) {
    var set = new ArrayList<String>();
    if (json != null || (format != null && forced == null)) {
      set.add("json");
    }
    if (regex != null) {
      set.add("regex");
    }
    if (!choice.isEmpty()) {
      set.add("choice");
    }
    if (grammar != null) {
      set.add("grammar");
    }
    if (json != null && format != null && forced == null) {
      set.addFirst("response_format");
    }
    if (set.size() > 1) {
      throw GenerationReader.refusePlainly(
          set.contains("json") ? "response_format" : "guided_" + set.getFirst(),
          "Only one guided-decoding constraint can be set; received: " + String.join(", ", set));
    }
    if (forced != null) {
      if (!set.isEmpty()) {
        throw GenerationReader.refusePlainly(
            "tool_choice",
            "A tool_choice that forces a call cannot be combined with guided decoding; received: "
                + String.join(", ", set));
      }
      return new GuidedDecoding(forced, null, List.of(), null, backend, whitespace, null);
    }
    if (set.isEmpty()) {
      return null;
    }
    return new GuidedDecoding(
        json == null ? format : json, regex, choice, grammar, backend, whitespace, null);
  }

  private static int nesting(String grammar) {
    int depth = 0;
    int deepest = 0;
    for (int i = 0; i < grammar.length(); i++) {
      switch (grammar.charAt(i)) {
        case '(', '[', '{' -> deepest = Math.max(deepest, ++depth);
        case ')', ']', '}' -> depth = Math.max(0, depth - 1);
        default -> {}
      }
    }
    return deepest;
  }
}
