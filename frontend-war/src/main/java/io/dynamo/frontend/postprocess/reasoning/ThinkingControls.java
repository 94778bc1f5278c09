package io.dynamo.frontend.postprocess.reasoning;

import java.util.Map;
import org.jspecify.annotations.Nullable;

/**
 * The controls of thinking in a request.
 *
 * @param enabled null when the request does not set it
 * @param effort as the request spells it, null when absent
 */
public record ThinkingControls(@Nullable Boolean enabled, @Nullable String effort) {
  /** Reads the template's arguments, values as JSON has them. */
  public static ThinkingControls of(Map<String, Object> templateArgs) {
    Boolean enabled = null;
    if (templateArgs.get("thinking") instanceof Boolean toggle) {
      enabled = toggle;
    } else if (templateArgs.get("enable_thinking") instanceof Boolean toggle) {
      enabled = toggle;
    } else if (templateArgs.get("thinking_mode") instanceof String mode) {
      enabled =
          switch (mode) {
            case "enabled" -> Boolean.TRUE;
            case "disabled" -> Boolean.FALSE;
            default -> null;
          };
    }
    var effort = templateArgs.get("reasoning_effort") instanceof String text ? text : null;
    if (enabled == null && effort != null) {
      enabled = !effort.equals("none");
    }
    return new ThinkingControls(enabled, effort);
  }

  /** Whether the request turns thinking off. */
  public boolean disabled() {
    return Boolean.FALSE.equals(enabled);
  }

  /** Whether the request turns thinking on. */
  boolean demanded() {
    return Boolean.TRUE.equals(enabled);
  }
}
