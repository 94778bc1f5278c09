package io.dynamo.frontend.admin;

import io.dynamo.config.router.RouterSettings.Busy;
import io.dynamo.json.JsonObject;
import java.math.BigDecimal;
import java.util.LinkedHashMap;
import java.util.Map;
import org.jspecify.annotations.Nullable;

/**
 * The change that a {@code POST /busy_threshold} asks for: each threshold is kept (absent or null),
 * set, or turned off ({@code "off"}). Other keys are ignored, as in Dynamo.
 */
record ThresholdChange(
    String model, Setting<BigDecimal> blocks, Setting<Long> tokens, Setting<BigDecimal> fraction) {
  private static final String BLOCKS = "active_decode_blocks_threshold";
  private static final String TOKENS = "active_prefill_tokens_threshold";
  private static final String FRACTION = "active_prefill_tokens_threshold_frac";
  private static final String INVALID_BODY =
      "Failed to deserialize the JSON body into the target type: ";

  /**
   * The new setting of one threshold.
   *
   * @param given whether the threshold changes
   * @param value null turns the threshold off
   */
  record Setting<T>(boolean given, @Nullable T value) {}

  /** A request that cannot be served, with the status and text of the answer. */
  static final class RefusedException extends RuntimeException {
    private static final long serialVersionUID = 1L;
    private final int status;

    RefusedException(int status, String message) {
      super(message, null, false, false);
      this.status = status;
    }

    int status() {
      return status;
    }
  }

  /**
   * Reads a change.
   *
   * @throws RefusedException with 422 when a member has the wrong type, 400 when it is out of range
   */
  static ThresholdChange of(JsonObject body) {
    if (!body.members().containsKey("model")) {
      throw invalidBody("missing field `model`");
    }
    var name = body.members().get("model");
    if (!(name instanceof String model)) {
      throw invalidBody("model: invalid type: %s, expected a string".formatted(shown(name)));
    }
    var change =
        new ThresholdChange(
            model,
            decimal(BLOCKS, body.members().get(BLOCKS)),
            whole(body.members().get(TOKENS)),
            decimal(FRACTION, body.members().get(FRACTION)));
    var blocks = change.blocks.value;
    if (blocks != null && (blocks.signum() < 0 || blocks.compareTo(BigDecimal.ONE) > 0)) {
      throw new RefusedException(
          400, BLOCKS + " must be between 0.0 and 1.0, got " + blocks.toPlainString());
    }
    var fraction = change.fraction.value;
    if (fraction != null && fraction.signum() < 0) {
      throw new RefusedException(
          400,
          FRACTION
              + " must be a finite value greater than or equal to 0.0, got "
              + fraction.toPlainString());
    }
    return change;
  }

  private static Setting<BigDecimal> decimal(String name, @Nullable Object member) {
    return switch (member) {
      case null -> new Setting<>(false, null);
      case String text when text.equals("off") -> new Setting<>(true, null);
      case Number value when Double.isFinite(value.doubleValue()) ->
          new Setting<>(true, new BigDecimal(value.toString()));
      case Object other -> throw wrong(name, "type", other, "f64");
    };
  }

  private static Setting<Long> whole(@Nullable Object member) {
    return switch (member) {
      case null -> new Setting<>(false, null);
      case String text when text.equals("off") -> new Setting<>(true, null);
      case Integer value when value >= 0 -> new Setting<>(true, value.longValue());
      case Long value when value >= 0 -> new Setting<>(true, value);
      case Number other when !(other instanceof Double) ->
          throw wrong(TOKENS, "value", other, "u64");
      case Object other -> throw wrong(TOKENS, "type", other, "u64");
    };
  }

  private static RefusedException wrong(String name, String what, Object value, String expected) {
    return invalidBody(
        "%s: invalid %s: %s, expected %s".formatted(name, what, shown(value), expected));
  }

  private static String shown(@Nullable Object value) {
    return switch (value) {
      case null -> "null";
      case String _ -> "string";
      case Boolean truth -> "boolean `" + truth + "`";
      case Double number -> "floating point `" + number + "`";
      case Number number -> "integer `" + number + "`";
      default -> "sequence or map";
    };
  }

  private static RefusedException invalidBody(String reason) {
    return new RefusedException(422, INVALID_BODY + reason);
  }

  /** Whether no threshold changes: the caller only reads them. */
  boolean asksOnly() {
    return !blocks.given && !tokens.given && !fraction.given;
  }

  /** The thresholds {@code now}, changed. */
  Busy applied(Busy now) {
    return new Busy(
        blocks.given ? asDouble(blocks.value) : now.decodeBlocks(),
        tokens.given ? tokens.value : now.prefillTokens(),
        fraction.given ? asDouble(fraction.value) : now.prefillTokensFraction());
  }

  private static @Nullable Double asDouble(@Nullable BigDecimal value) {
    return value == null ? null : (Double) value.doubleValue();
  }

  /** The thresholds of a model as JSON members of an answer. */
  static Map<String, @Nullable Object> json(String model, Busy thresholds) {
    var json = new LinkedHashMap<String, @Nullable Object>();
    json.put("model", model);
    json.put(BLOCKS, thresholds.decodeBlocks());
    json.put(TOKENS, thresholds.prefillTokens());
    json.put(FRACTION, thresholds.prefillTokensFraction());
    return json;
  }
}
