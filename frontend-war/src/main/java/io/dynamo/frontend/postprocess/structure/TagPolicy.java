package io.dynamo.frontend.postprocess.structure;

import java.util.Map;
import org.jspecify.annotations.Nullable;

/**
 * When a worker wants structural tags for tool calls, by its card.
 *
 * @param on whether it does
 * @param always whether also for tools without {@code strict} that the model may but need not call
 * @param strict whether schemas count for tools with {@code "strict": false}, too
 * @param afterThoughts whether the engine lets the model think before it applies a tag
 */
record TagPolicy(boolean on, boolean always, boolean strict, boolean afterThoughts) {
  private static final String CANONICAL = "structural_tag";
  private static final String EXCLUDES_REASONING = "tool_call_structural_tag_excludes_reasoning";

  /**
   * Reads {@code structural_tag} or, where a card has none, {@code structural_tag_mode}, {@code
   * _scope} and {@code _schema} of a card's runtime configuration.
   */
  static TagPolicy of(Map<String, ? extends @Nullable Object> runtimeConfig) {
    boolean engineExcludes =
        runtimeConfig.get("runtime_data") instanceof Map<?, ?> data
            && Boolean.TRUE.equals(data.get(EXCLUDES_REASONING));
    if (runtimeConfig.containsKey(CANONICAL)) {
      return runtimeConfig.get(CANONICAL) instanceof Map<?, ?> tag
          ? new TagPolicy(
              true,
              "always".equals(tag.get("scope")),
              "strict".equals(tag.get("schema")),
              engineExcludes || "backend".equals(tag.get("reasoning_boundary")))
          : new TagPolicy(false, false, false, engineExcludes);
    }
    return new TagPolicy(
        "on".equals(runtimeConfig.get("structural_tag_mode")),
        "always".equals(runtimeConfig.get("structural_tag_scope")),
        "strict".equals(runtimeConfig.get("structural_tag_schema")),
        engineExcludes);
  }
}
