package io.dynamo.frontend.preprocess;

import java.util.List;
import java.util.Map;
import org.jspecify.annotations.Nullable;

/**
 * The input of a chat template; values are maps, lists, strings, numbers, booleans and null, as in
 * JSON.
 *
 * @param templateArgs further names in the template's scope, for example {@code enable_thinking}
 * @param responseFormat the form of the answer that the request demands, null when it does not; the
 *     prompts of some models repeat it
 * @param toolChoice {@code required}, {@code none} or {@code auto} as in the API, null for a
 *     function by name; the prompts of some models repeat it
 */
public record ChatPrompt(
    List<Map<String, Object>> messages,
    List<Map<String, Object>> tools,
    Map<String, Object> templateArgs,
    @Nullable Map<String, Object> responseFormat,
    @Nullable String toolChoice) {
  /** A prompt for an answer of any form, with calls or without. */
  public ChatPrompt(
      List<Map<String, Object>> messages,
      List<Map<String, Object>> tools,
      Map<String, Object> templateArgs) {
    this(messages, tools, templateArgs, null, null);
  }
}
