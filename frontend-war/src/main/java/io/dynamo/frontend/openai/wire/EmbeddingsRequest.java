package io.dynamo.frontend.openai.wire;

import com.fasterxml.jackson.databind.JsonNode;
import java.util.ArrayList;
import java.util.List;
import java.util.Set;
import org.jspecify.annotations.Nullable;

/**
 * A checked request for embeddings.
 *
 * @param inputs at least one
 * @param base64 whether the client wants base64 in the place of numbers
 * @param dimensions the length of each embedding, null for the model's own
 * @param truncateTo prompts are cut to that many tokens, -1 for the model's context; null refuses
 *     longer ones
 */
public record EmbeddingsRequest(
    GenerationFields fields,
    List<CompletionRequest.Prompt> inputs,
    boolean base64,
    @Nullable Integer dimensions,
    @Nullable Integer truncateTo) {
  private static final int MAX_INPUTS = 2048; // as OpenAI
  private static final int MAX_DIMENSIONS = 1 << 16;
  private static final Set<String> KNOWN =
      Set.of(
          "model",
          "input",
          "encoding_format",
          "dimensions",
          "user",
          "truncate_prompt_tokens",
          "nvext");

  public EmbeddingsRequest {
    inputs = List.copyOf(inputs);
  }

  /** The top-level fields of the API. */
  public static Set<String> names() {
    return KNOWN;
  }

  /**
   * Reads and checks. Unknown fields are ignored, as Dynamo does.
   *
   * @throws io.dynamo.frontend.ApiException with 400
   */
  public static EmbeddingsRequest read(JsonNode body) {
    var fields = JsonFields.of(body, "");
    var translation = new NativeRequest.Translation();
    translation.put("model", fields.require("model"));
    var user = fields.string("user");
    if (user != null && !user.isBlank()) { // which chats refuse
      translation.put("user", fields.get("user"));
    }
    translation.put("nvext", fields.get("nvext"));
    var inputs = inputs(fields.require("input"));
    var format = fields.string("encoding_format");
    if (format != null && !format.equals("float") && !format.equals("base64")) {
      throw JsonBody.invalidBody(
          "encoding_format: unknown variant `%s`, expected `float` or `base64`"
              .formatted(JsonFields.clipped(format)));
    }
    return new EmbeddingsRequest(
        translation.fields(),
        inputs,
        "base64".equals(format),
        fields.integer("dimensions", 1, MAX_DIMENSIONS),
        truncation(fields));
  }

  private static @Nullable Integer truncation(JsonFields fields) {
    var tokens = fields.integer("truncate_prompt_tokens", -1, Integer.MAX_VALUE);
    if (tokens != null && tokens == 0) {
      throw GenerationReader.refuse(
          "truncate_prompt_tokens", "truncate_prompt_tokens must be -1 or at least 1, got 0");
    }
    return tokens;
  }

  private static List<CompletionRequest.Prompt> inputs(JsonNode input) {
    if (input.isTextual()) {
      return List.of(text(input, "input"));
    }
    if (!input.isArray()) {
      throw wrong("input", input);
    }
    if (input.isEmpty()) {
      throw GenerationReader.refuse("input", "Input array cannot be empty");
    }
    if (input.get(0).isIntegralNumber()) {
      return List.of(new CompletionRequest.Prompt(null, Nvext.tokenIds(input, "input")));
    }
    if (input.size() > MAX_INPUTS) {
      throw GenerationReader.refuse(
          "input", "Maximum of %d inputs allowed, got %d".formatted(MAX_INPUTS, input.size()));
    }
    var inputs = new ArrayList<CompletionRequest.Prompt>(input.size());
    boolean texts = input.get(0).isTextual();
    for (int i = 0; i < input.size(); i++) {
      var element = input.get(i);
      var path = "input[" + i + "]";
      if (texts && element.isTextual()) {
        inputs.add(text(element, path));
      } else if (!texts && element.isArray() && !element.isEmpty()) {
        inputs.add(new CompletionRequest.Prompt(null, Nvext.tokenIds(element, path)));
      } else {
        throw wrong(path, element);
      }
    }
    return inputs;
  }

  private static CompletionRequest.Prompt text(JsonNode value, String path) {
    if (value.textValue().isEmpty()) {
      throw GenerationReader.refuse(path, path + " cannot be an empty string");
    }
    return new CompletionRequest.Prompt(value.textValue(), null);
  }

  private static RuntimeException wrong(String path, JsonNode value) {
    return JsonFields.wrong(
        path, value, "a string, a list of strings, a list of token ids or a list of such lists");
  }
}
