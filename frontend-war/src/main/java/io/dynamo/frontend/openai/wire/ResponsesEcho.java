package io.dynamo.frontend.openai.wire;

import com.fasterxml.jackson.core.JsonProcessingException;
import com.fasterxml.jackson.databind.JsonNode;
import com.fasterxml.jackson.databind.node.ObjectNode;
import java.io.UncheckedIOException;
import java.util.Arrays;
import java.util.List;
import java.util.Map;
import org.jspecify.annotations.Nullable;

/**
 * The part of a response that repeats the request: every key of the Responses API is present, null
 * or its default where the request omits it.
 *
 * @param json the fields as UTF-8, with a comma before each
 * @param showsThoughts whether thoughts are items of the answer
 */
record ResponsesEcho(byte[] json, boolean showsThoughts) {
  private static final List<String> REPEATED =
      List.of(
          "instructions",
          "max_output_tokens",
          "previous_response_id",
          "prompt_cache_key",
          "prompt_cache_retention",
          "reasoning",
          "safety_identifier",
          "user");

  /**
   * Writes the fields of features that are not offered: every answer has them, with constant
   * values.
   */
  private static final List<String> ABSENT = List.of("billing", "max_tool_calls", "prompt");

  /**
   * @param stored whether the response is stored, which the request may have left open
   * @param conversation id of the one that the response belongs to; null for none
   */
  static ResponsesEcho of(JsonFields fields, boolean stored, @Nullable String conversation) {
    var nodes = JsonText.MAPPER.getNodeFactory();
    var echo = JsonText.MAPPER.createObjectNode();
    echo.put("background", false);
    ABSENT.forEach(echo::putNull);
    if (conversation == null) {
      echo.putNull("conversation");
    } else {
      echo.putObject("conversation").put("id", conversation);
    }
    for (var name : REPEATED) {
      var value = fields.get(name);
      echo.set(name, value == null ? nodes.nullNode() : value);
    }
    repeat(echo, fields, "metadata", nodes.objectNode());
    repeat(echo, fields, "parallel_tool_calls", nodes.booleanNode(true));
    repeat(echo, fields, "service_tier", nodes.textNode("auto"));
    echo.put("store", stored);
    repeat(echo, fields, "temperature", nodes.numberNode(1.0));
    repeat(echo, fields, "top_p", nodes.numberNode(1.0));
    var text = fields.get("text");
    var form = nodes.objectNode().set("format", nodes.objectNode().put("type", "text"));
    if (text instanceof ObjectNode given && !given.hasNonNull("format")) {
      form = given.deepCopy().setAll(Map.of("format", form.get("format")));
    } else if (text != null) {
      form = text;
    }
    echo.set("text", form);
    repeat(echo, fields, "tool_choice", nodes.textNode("auto"));
    repeat(echo, fields, "tools", nodes.arrayNode());
    repeat(echo, fields, "truncation", nodes.textNode("disabled"));
    echo.put("top_logprobs", 0).put("presence_penalty", 0.0).put("frequency_penalty", 0.0);
    var reasoning = fields.get("reasoning");
    boolean shows =
        reasoning != null
            && (reasoning.hasNonNull("summary") || reasoning.hasNonNull("generate_summary"));
    try {
      var json = JsonText.MAPPER.writeValueAsBytes(echo);
      json[0] = ',';
      return new ResponsesEcho(Arrays.copyOf(json, json.length - 1), shows);
    } catch (JsonProcessingException e) {
      throw new UncheckedIOException(e); // a tree that was parsed can be written
    }
  }

  private static void repeat(ObjectNode echo, JsonFields fields, String name, JsonNode absent) {
    var value = fields.get(name);
    echo.set(name, value == null ? absent : value);
  }
}
