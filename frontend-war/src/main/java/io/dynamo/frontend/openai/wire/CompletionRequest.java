package io.dynamo.frontend.openai.wire;

import java.util.List;
import org.jspecify.annotations.Nullable;

/**
 * A checked request for a completion.
 *
 * @param prompts at least one
 * @param echo whether the prompt comes back before the text
 * @param bestOf texts of which the likeliest are given; at least the number of choices
 */
public record CompletionRequest(
    GenerationFields fields, List<Prompt> prompts, boolean echo, int bestOf) {
  /**
   * A text to be continued: exactly one of the two is set.
   *
   * @param tokens unsigned 32 bits each; owned by the record
   */
  public record Prompt(@Nullable String text, int @Nullable [] tokens) {}

  public CompletionRequest {
    prompts = List.copyOf(prompts);
  }
}
