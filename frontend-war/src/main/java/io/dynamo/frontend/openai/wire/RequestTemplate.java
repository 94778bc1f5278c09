package io.dynamo.frontend.openai.wire;

import com.fasterxml.jackson.databind.JsonNode;
import com.fasterxml.jackson.databind.node.ObjectNode;
import java.io.IOException;
import java.math.BigDecimal;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.List;
import org.jspecify.annotations.Nullable;

/**
 * Defaults for fields that a chat request leaves out, from Dynamo's template file. A temperature of
 * 0 is a default; a budget of 0 tokens is none.
 */
public record RequestTemplate(String model, BigDecimal temperature, int maxCompletionTokens) {
  private static final List<String> KEYS = List.of("model", "temperature", "max_completion_tokens");
  private static final List<String> BUDGETS = List.of("max_completion_tokens", "max_tokens");

  /**
   * Reads a template.
   *
   * @throws IllegalArgumentException when the file cannot be read or is no template
   */
  public static RequestTemplate read(Path file) {
    try {
      var json = JsonText.MAPPER.readTree(Files.readAllBytes(file));
      var keys = json.properties().stream().map(entry -> entry.getKey()).sorted().toList();
      if (keys.equals(KEYS.stream().sorted().toList())
          && json.get("model").isTextual()
          && json.get("temperature").isNumber()
          && json.get("max_completion_tokens").canConvertToInt()
          && json.get("max_completion_tokens").isIntegralNumber()) {
        return new RequestTemplate(
            json.get("model").textValue(),
            json.get("temperature").decimalValue(),
            json.get("max_completion_tokens").intValue());
      }
    } catch (IOException e) {
      throw new IllegalArgumentException(
          "dynamo.frontend.request-template = \"%s\" cannot be read as JSON: %s"
              .formatted(file, e.getMessage()),
          e);
    }
    throw new IllegalArgumentException(
        "dynamo.frontend.request-template = \"%s\" must be a JSON object with a text \"model\", a number \"temperature\" and a whole number \"max_completion_tokens\", and nothing else"
            .formatted(file));
  }

  /** Sets the defaults in {@code request}. */
  public void fill(ObjectNode request) {
    if (isOpen(request.get("model")) || request.path("model").asText("x").isEmpty()) {
      request.put("model", model);
    }
    if (isOpen(request.get("temperature"))) {
      request.put("temperature", temperature);
    }
    if (BUDGETS.stream().allMatch(name -> isNoBudget(request.get(name)))) {
      request.remove(BUDGETS);
      request.put("max_completion_tokens", maxCompletionTokens);
    }
  }

  private static boolean isOpen(@Nullable JsonNode value) {
    return value == null || value.isNull();
  }

  private static boolean isNoBudget(@Nullable JsonNode value) {
    return value == null || value.isNull() || (value.isIntegralNumber() && value.asLong() == 0);
  }
}
