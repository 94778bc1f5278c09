package io.dynamo.worker.engine.llama.weights;

import io.dynamo.json.Json;
import io.dynamo.json.JsonObject;
import io.dynamo.worker.engine.llama.math.Matrix;
import java.io.IOException;
import java.io.UncheckedIOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.LinkedHashSet;
import java.util.List;
import java.util.Map;
import java.util.Set;
import org.jspecify.annotations.Nullable;

/**
 * A LoRA adapter in PEFT's form, added to the weights of its model: {@code W + (alpha / r) B A} for
 * each matrix that it changes; the others are shared with the model.
 *
 * @see <a href="https://arxiv.org/abs/2106.09685">LoRA</a>
 */
public final class LoraWeights {
  private static final Set<String> ATTENTION = Set.of("q_proj", "k_proj", "v_proj", "o_proj");
  private static final Set<String> FEED_FORWARD = Set.of("gate_proj", "up_proj", "down_proj");

  /** Configuration members that change the mathematics, and must be absent, false or empty. */
  private static final List<String> UNUSED =
      List.of(
          "use_dora",
          "fan_in_fan_out",
          "modules_to_save",
          "rank_pattern",
          "alpha_pattern",
          "layers_to_transform",
          "layer_replication");

  private final LlamaWeights model;
  private final Safetensors base;
  private final Safetensors adapter;
  private final Set<String> targets;
  private final int rank;
  private final float scale;

  private LoraWeights(
      LlamaWeights model,
      Safetensors base,
      Safetensors adapter,
      Set<String> targets,
      int rank,
      float scale) {
    this.model = model;
    this.base = base;
    this.adapter = adapter;
    this.targets = targets;
    this.rank = rank;
    this.scale = scale;
  }

  /**
   * Returns the weights of {@code model} with an adapter merged in.
   *
   * @param directory has {@code adapter_config.json} and {@code adapter_model.safetensors}
   * @throws IllegalArgumentException when a file is broken, or needs an unsupported feature
   * @throws UncheckedIOException when a file cannot be read
   */
  public static LlamaWeights merged(LlamaWeights model, Path directory) {
    try (var base = Safetensors.open(model.directory().resolve("model.safetensors"));
        var adapter = Safetensors.open(directory.resolve("adapter_model.safetensors"))) {
      var file = directory.resolve("adapter_config.json");
      try {
        var config = Json.readObject(Files.readAllBytes(file));
        return of(model, base, adapter, config).merged();
      } catch (IllegalArgumentException e) {
        throw new IllegalArgumentException(file + ": " + e.getMessage(), e);
      }
    } catch (IOException e) {
      throw new UncheckedIOException("cannot read the adapter in " + directory, e);
    }
  }

  private static LoraWeights of(
      LlamaWeights model, Safetensors base, Safetensors adapter, JsonObject config) {
    for (var member : UNUSED) {
      if (!isNothing(config.members().get(member))) {
        throw new IllegalArgumentException(member + " is not supported");
      }
    }
    if (!"none".equals(config.members().getOrDefault("bias", "none"))) {
      throw new IllegalArgumentException("bias is not supported but for \"none\"");
    }
    int rank = config.count("r");
    if (rank < 1) {
      throw new IllegalArgumentException("r " + rank + " is below 1");
    }
    if (!(config.members().get("lora_alpha") instanceof Number alpha)) {
      throw new IllegalArgumentException("lora_alpha is no number");
    }
    boolean stabilized = Boolean.TRUE.equals(config.members().get("use_rslora"));
    double scale = alpha.doubleValue() / (stabilized ? Math.sqrt(rank) : rank);
    return new LoraWeights(model, base, adapter, targets(config), rank, (float) scale);
  }

  private static boolean isNothing(@Nullable Object value) {
    return switch (value) {
      case null -> true;
      case Boolean flag -> !flag;
      case List<?> list -> list.isEmpty();
      case Map<?, ?> map -> map.isEmpty();
      default -> false;
    };
  }

  private static Set<String> targets(JsonObject config) {
    var targets = new LinkedHashSet<String>();
    for (var name : config.list("target_modules")) {
      var target = String.valueOf(name);
      if (!ATTENTION.contains(target) && !FEED_FORWARD.contains(target)) {
        throw new IllegalArgumentException(
            "target module \"%s\" is none of %s and %s".formatted(target, ATTENTION, FEED_FORWARD));
      }
      targets.add(target);
    }
    return targets;
  }

  private LlamaWeights merged() throws IOException {
    var shape = model.shape();
    int hidden = shape.hidden();
    int queries = shape.queryWidth();
    int feedForward = shape.feedForward();
    var layers = new ArrayList<LlamaWeights.Layer>();
    for (int i = 0; i < shape.layers(); i++) {
      var layer = model.layers().get(i);
      layers.add(
          new LlamaWeights.Layer(
              layer.attentionNorm(),
              merged(i, "q_proj", layer.query(), queries, hidden),
              merged(i, "k_proj", layer.key(), shape.kvWidth(), hidden),
              merged(i, "v_proj", layer.value(), shape.kvWidth(), hidden),
              merged(i, "o_proj", layer.attentionOutput(), hidden, queries),
              layer.feedForwardNorm(),
              merged(i, "gate_proj", layer.gate(), feedForward, hidden),
              merged(i, "up_proj", layer.up(), feedForward, hidden),
              merged(i, "down_proj", layer.down(), hidden, feedForward)));
    }
    return new LlamaWeights(
        model.directory(),
        model.digest() + " with " + adapter.digest(),
        shape,
        model.kernel(),
        model.embedding(),
        layers,
        model.norm(),
        model.output());
  }

  private Matrix merged(int layer, String target, Matrix unchanged, int outputs, int inputs)
      throws IOException {
    if (!targets.contains(target)) {
      return unchanged;
    }
    var part = ATTENTION.contains(target) ? "self_attn." : "mlp.";
    var name = "model.layers." + layer + "." + part + target;
    var sum = base.read(name + ".weight", outputs, inputs);
    var down = adapter.read("base_model.model." + name + ".lora_A.weight", rank, inputs);
    var up = adapter.read("base_model.model." + name + ".lora_B.weight", outputs, rank);
    for (int out = 0; out < outputs; out++) {
      for (int in = 0; in < inputs; in++) {
        float delta = 0;
        for (int k = 0; k < rank; k++) {
          delta = Math.fma(up[out * rank + k], down[k * inputs + in], delta);
        }
        sum[out * inputs + in] = Math.fma(scale, delta, sum[out * inputs + in]);
      }
    }
    return model.kernel().pack(sum, outputs, inputs);
  }
}
