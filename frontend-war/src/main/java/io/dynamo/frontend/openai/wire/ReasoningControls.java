package io.dynamo.frontend.openai.wire;

import java.util.LinkedHashMap;
import java.util.List;
import java.util.Locale;
import java.util.Map;
import org.jspecify.annotations.Nullable;

/**
 * Translates the controls of thinking from the dialects of clients into the three that templates
 * read. The control of highest precedence is written in all three.
 */
final class ReasoningControls {
  private static final List<String> EFFORTS =
      List.of("none", "minimal", "low", "medium", "high", "xhigh", "max");
  private static final List<String> MODES = List.of("enabled", "disabled", "adaptive");

  private final JsonFields fields;
  private final @Nullable String effort;

  ReasoningControls(JsonFields fields) {
    this.fields = fields;
    effort = fields.string("reasoning_effort");
    if (effort != null && !EFFORTS.contains(effort)) {
      throw JsonBody.invalidBody(
          "reasoning_effort: unknown variant `%s`, expected one of %s"
              .formatted(
                  JsonFields.clipped(effort),
                  String.join(", ", EFFORTS.stream().map(it -> "`" + it + "`").toList())));
    }
  }

  /**
   * Adds the controls to the template's {@code args}.
   *
   * @throws io.dynamo.frontend.ApiException with 400 when {@code thinking} has no valid type
   */
  Map<String, Object> addTo(Map<String, Object> args) {
    var controls = new LinkedHashMap<>(args);
    if (effort != null) {
      controls.put("reasoning_effort", effort);
    }
    var mode = mode(controls);
    if (mode == null) {
      return controls;
    }
    controls.put("thinking_mode", mode);
    if (mode.equals("adaptive")) {
      controls.remove("thinking");
      controls.remove("enable_thinking");
    } else {
      controls.put("thinking", mode.equals("enabled"));
      controls.put("enable_thinking", mode.equals("enabled"));
    }
    return controls;
  }

  private @Nullable String mode(Map<String, Object> args) {
    var root = rootMode();
    if (root != null) {
      return root;
    }
    for (var name : List.of("thinking", "enable_thinking")) {
      if (args.get(name) instanceof Boolean on) {
        return on ? "enabled" : "disabled";
      }
    }
    if (args.get("thinking_mode") instanceof String mode
        && MODES.contains(mode.toLowerCase(Locale.ROOT))) {
      return mode.toLowerCase(Locale.ROOT);
    }
    if (args.get("reasoning_effort") instanceof String hard) {
      return hard.equals("none") ? "disabled" : "enabled";
    }
    return null;
  }

  private @Nullable String rootMode() {
    var thinking = fields.get("thinking");
    if (thinking == null) {
      return null;
    }
    if (thinking.isBoolean()) {
      return thinking.booleanValue() ? "enabled" : "disabled";
    }
    if (!thinking.isObject() || !thinking.path("type").isTextual()) {
      throw GenerationReader.refuse(
          "thinking",
          "`thinking` must be a boolean or an object with `type` set to `enabled`, `disabled`, or"
              + " `adaptive`");
    }
    var type = thinking.get("type").textValue();
    if (!MODES.contains(type)) {
      throw GenerationReader.refuse(
          "thinking", "`thinking.type` must be `enabled`, `disabled`, or `adaptive`");
    }
    return type;
  }
}
