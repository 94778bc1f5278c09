package io.dynamo.worker.engine.llama.weights;

import io.dynamo.json.Json;
import io.dynamo.json.JsonObject;
import java.io.IOException;
import java.io.UncheckedIOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.List;
import java.util.Map;
import org.jspecify.annotations.Nullable;

/**
 * The sizes of a Llama model, from its {@code config.json}.
 *
 * @param hidden width of a token's state
 * @param heads query heads
 * @param kvHeads heads of keys and values; divides {@code heads}
 * @param headDim width of a head; even
 * @param feedForward inner width of a layer's feed-forward part
 * @param contextLength positions of one sequence
 * @param ropeTheta base of the position angles
 * @param tied whether the output matrix is the embedding
 */
public record LlamaShape(
    int vocabulary,
    int hidden,
    int layers,
    int heads,
    int kvHeads,
    int headDim,
    int feedForward,
    int contextLength,
    float normEpsilon,
    double ropeTheta,
    boolean tied) {
  private static final int MOST = 1 << 24; // bound of each size: beyond it a product could overflow

  public LlamaShape {
    within("vocab_size", vocabulary);
    within("hidden_size", hidden);
    within("num_hidden_layers", layers);
    within("num_attention_heads", heads);
    within("num_key_value_heads", kvHeads);
    within("head_dim", headDim);
    within("intermediate_size", feedForward);
    within("max_position_embeddings", contextLength);
    if (heads % kvHeads != 0) {
      throw new IllegalArgumentException(
          "num_attention_heads %d is no multiple of num_key_value_heads %d"
              .formatted(heads, kvHeads));
    }
    if (headDim % 2 != 0) {
      throw new IllegalArgumentException("head_dim " + headDim + " is odd; RoPE turns pairs");
    }
  }

  private static void within(String name, int value) {
    if (value < 1 || value > MOST) {
      throw new IllegalArgumentException(
          "%s %d is not within 1 to %d".formatted(name, value, MOST));
    }
  }

  /**
   * Reads a {@code config.json}.
   *
   * @throws IllegalArgumentException when the file is no such configuration, or of a model that
   *     this engine would compute wrongly
   */
  public static LlamaShape read(Path config) {
    try {
      return of(Json.readObject(Files.readAllBytes(config)));
    } catch (IOException e) {
      throw new UncheckedIOException("cannot read " + config, e);
    } catch (IllegalArgumentException e) {
      throw new IllegalArgumentException(config + ": " + e.getMessage(), e);
    }
  }

  private static LlamaShape of(JsonObject config) {
    require(config, "model_type", "llama");
    var act = config.optionalText("hidden_act");
    if (act != null) {
      require(config, "hidden_act", "silu");
    }
    for (var unsupported : List.of("attention_bias", "mlp_bias")) {
      if (Boolean.TRUE.equals(config.members().get(unsupported))) {
        throw new IllegalArgumentException(unsupported + " is not supported");
      }
    }
    var scaling = config.members().get("rope_scaling");
    if (scaling instanceof Map<?, ?> kind && !isPlainRope(kind)) {
      throw new IllegalArgumentException("rope_scaling is not supported: " + kind.keySet());
    }
    int heads = config.count("num_attention_heads");
    int hidden = config.count("hidden_size");
    var kvHeads = config.optionalCount("num_key_value_heads");
    var headDim = config.optionalCount("head_dim");
    return new LlamaShape(
        config.count("vocab_size"),
        hidden,
        config.count("num_hidden_layers"),
        heads,
        kvHeads == null ? heads : kvHeads,
        headDim == null ? hidden / Math.max(1, heads) : headDim,
        config.count("intermediate_size"),
        config.count("max_position_embeddings"),
        (float) number(config.members().get("rms_norm_eps"), 1e-6),
        number(config.members().get("rope_theta"), 10000.0),
        Boolean.TRUE.equals(config.members().get("tie_word_embeddings")));
  }

  private static boolean isPlainRope(Map<?, ?> scaling) {
    var type = scaling.get("rope_type");
    return "default".equals(type == null ? scaling.get("type") : type);
  }

  private static void require(JsonObject config, String name, String value) {
    var found = config.text(name);
    if (!found.equals(value)) {
      throw new IllegalArgumentException(
          "%s is %s; the llama engine runs %s only".formatted(name, found, value));
    }
  }

  private static double number(@Nullable Object value, double otherwise) {
    return value instanceof Number number ? number.doubleValue() : otherwise;
  }

  /** Returns the width of all query heads together. */
  public int queryWidth() {
    return heads * headDim;
  }

  /** Returns the width of all key heads together; the values' is the same. */
  public int kvWidth() {
    return kvHeads * headDim;
  }
}
