package io.dynamo.worker.engine.sampling;

import io.dynamo.error.InvalidRequestException;
import io.dynamo.inference.GenerateRequest;
import io.dynamo.inference.SamplingOptions;
import java.util.LinkedHashMap;
import java.util.Map;
import org.jspecify.annotations.Nullable;

/**
 * The sampling options of one generation, with all defaults resolved. Immutable.
 *
 * @param temperature 0 takes the likeliest token
 * @param topK the number of likeliest tokens that may be drawn; 0 is all
 * @param topP the share of probability that may be drawn from
 * @param minP the least probability of a token, relative to the likeliest
 * @param bias added to the logits of tokens
 */
public record SamplingPlan(
    float temperature,
    int topK,
    float topP,
    float minP,
    float frequencyPenalty,
    float presencePenalty,
    float repetitionPenalty,
    long seed,
    Map<Integer, Float> bias) {
  /** The member for token biases in a request that the API passed on unchanged. */
  private static final String BIAS = "logit_bias";

  private static final String PASSED_SAMPLING = "sampling_options";

  /**
   * The sampling defaults of a model's {@code generation_config.json}, used where a request sets
   * nothing.
   *
   * @param temperature 0 where the model asks for no sampling
   */
  public record Defaults(float temperature, int topK, float topP) {
    /** Defaults that take the likeliest token each time. */
    public static final Defaults GREEDY = new Defaults(0f, 0, 1f);
  }

  public SamplingPlan {
    within("temperature", temperature, 0f, 100f);
    within("top_p", topP, 0f, 1f);
    within("min_p", minP, 0f, 1f);
    within("frequency_penalty", frequencyPenalty, -2f, 2f);
    within("presence_penalty", presencePenalty, -2f, 2f);
    within("repetition_penalty", repetitionPenalty, Float.MIN_VALUE, Float.MAX_VALUE); // above 0
    bias = Map.copyOf(bias);
  }

  private static void within(String name, float value, float least, float most) {
    if (!(value >= least && value <= most)) { // NaN is not within
      throw new InvalidRequestException(
          "%s %s is not within %s to %s".formatted(name, value, least, most));
    }
  }

  /**
   * Resolves the options that {@code request} leaves open.
   *
   * @param seed seed for a request without one
   * @throws InvalidRequestException when an option is out of bounds
   */
  public static SamplingPlan of(
      GenerateRequest request, Defaults defaults, int vocabulary, long seed) {
    var asked = request.sampling();
    var k = asked.topK() == null ? (Integer) defaults.topK : asked.topK();
    if (k < -1) {
      throw new InvalidRequestException("top_k " + k + " is below -1, which is all");
    }
    return new SamplingPlan(
        orElse(asked.temperature(), defaults.temperature),
        Math.max(0, k),
        orElse(asked.topP(), defaults.topP),
        orElse(asked.minP(), 0f),
        orElse(asked.frequencyPenalty(), 0f),
        orElse(asked.presencePenalty(), 0f),
        orElse(asked.repetitionPenalty(), 1f),
        asked.seed() == null ? seed : asked.seed(),
        bias(request, asked, vocabulary));
  }

  private static float orElse(@Nullable Float value, float otherwise) {
    return value == null ? otherwise : value;
  }

  private static Map<Integer, Float> bias(
      GenerateRequest request, SamplingOptions asked, int vocabulary) {
    var found = asked.passedOn().get(BIAS);
    if (found == null && request.extraArgs().get(PASSED_SAMPLING) instanceof Map<?, ?> passed) {
      found = passed.get(BIAS);
    }
    if (found == null) {
      found = request.extraArgs().get(BIAS);
    }
    if (found == null) {
      return Map.of();
    }
    if (!(found instanceof Map<?, ?> entries)) {
      throw new InvalidRequestException("logit_bias is no object of token ids");
    }
    var bias = new LinkedHashMap<Integer, Float>();
    entries.forEach((id, value) -> bias.put(token(id, vocabulary), bias(value)));
    return bias;
  }

  private static int token(@Nullable Object id, int vocabulary) {
    try {
      int token = Integer.parseInt(String.valueOf(id));
      if (token >= 0 && token < vocabulary) {
        return token;
      }
    } catch (NumberFormatException _) {
      // reported below
    }
    throw new InvalidRequestException(
        "logit_bias has %s, which is no token id below %d".formatted(id, vocabulary));
  }

  private static float bias(@Nullable Object value) {
    if (value instanceof Number number && Math.abs(number.doubleValue()) <= 100) {
      return number.floatValue();
    }
    throw new InvalidRequestException("a logit_bias of " + value + " is not within -100 to 100");
  }

  /** Whether the text so far affects the next draw. */
  public boolean hasPenalties() {
    return frequencyPenalty != 0f || presencePenalty != 0f || repetitionPenalty != 1f;
  }
}
