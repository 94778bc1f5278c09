package io.dynamo.worker.engine.llama.weights;

import io.dynamo.worker.engine.llama.math.Kernel;
import io.dynamo.worker.engine.llama.math.Matrix;
import java.io.IOException;
import java.io.UncheckedIOException;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;

/**
 * A model's numbers in single precision, packed for one kernel. Immutable by agreement: the arrays
 * are shared by all ranks and never written.
 *
 * @param directory the directory that they were loaded from
 * @param digest the same for equal numbers, stored as the same type, and for no others
 * @param embedding {@code [vocabulary][hidden]}
 * @param output the matrix from hidden state to vocabulary
 */
public record LlamaWeights(
    Path directory,
    String digest,
    LlamaShape shape,
    Kernel kernel,
    float[] embedding,
    List<Layer> layers,
    float[] norm,
    Matrix output) {
  /** The weights of one layer: its norms, its attention, its feed-forward part. */
  public record Layer(
      float[] attentionNorm,
      Matrix query,
      Matrix key,
      Matrix value,
      Matrix attentionOutput,
      float[] feedForwardNorm,
      Matrix gate,
      Matrix up,
      Matrix down) {}

  public LlamaWeights {
    layers = List.copyOf(layers);
  }

  /**
   * Loads {@code config.json} and {@code model.safetensors} of a Hugging Face model directory.
   *
   * @throws IllegalArgumentException when a file is broken, or of a model this engine cannot run
   * @throws UncheckedIOException when a file cannot be read
   */
  public static LlamaWeights load(Path directory, Kernel kernel) {
    var shape = LlamaShape.read(directory.resolve("config.json"));
    var file = directory.resolve("model.safetensors");
    try (var tensors = Safetensors.open(file)) {
      return load(directory, shape, tensors, kernel);
    } catch (IOException e) {
      throw new UncheckedIOException(
          "cannot read " + file + "; the llama engine needs the model's weights", e);
    }
  }

  private static LlamaWeights load(
      Path directory, LlamaShape shape, Safetensors tensors, Kernel kernel) throws IOException {
    int hidden = shape.hidden();
    var embedding = tensors.read("model.embed_tokens.weight", shape.vocabulary(), hidden);
    var layers = new ArrayList<Layer>();
    for (int i = 0; i < shape.layers(); i++) {
      layers.add(layer(shape, tensors, kernel, "model.layers." + i + "."));
    }
    var norm = tensors.read("model.norm.weight", hidden);
    var output =
        shape.tied() ? embedding : tensors.read("lm_head.weight", shape.vocabulary(), hidden);
    return new LlamaWeights(
        directory,
        tensors.digest(),
        shape,
        kernel,
        embedding,
        layers,
        norm,
        kernel.pack(output, shape.vocabulary(), hidden));
  }

  private static Layer layer(LlamaShape shape, Safetensors tensors, Kernel kernel, String prefix)
      throws IOException {
    int hidden = shape.hidden();
    var packed = new Packed(tensors, kernel, prefix);
    return new Layer(
        tensors.read(prefix + "input_layernorm.weight", hidden),
        packed.read("self_attn.q_proj.weight", shape.queryWidth(), hidden),
        packed.read("self_attn.k_proj.weight", shape.kvWidth(), hidden),
        packed.read("self_attn.v_proj.weight", shape.kvWidth(), hidden),
        packed.read("self_attn.o_proj.weight", hidden, shape.queryWidth()),
        tensors.read(prefix + "post_attention_layernorm.weight", hidden),
        packed.read("mlp.gate_proj.weight", shape.feedForward(), hidden),
        packed.read("mlp.up_proj.weight", shape.feedForward(), hidden),
        packed.read("mlp.down_proj.weight", hidden, shape.feedForward()));
  }

  private record Packed(Safetensors tensors, Kernel kernel, String prefix) {
    Matrix read(String name, int outputs, int inputs) throws IOException {
      return kernel.pack(tensors.read(prefix + name, outputs, inputs), outputs, inputs);
    }
  }
}
