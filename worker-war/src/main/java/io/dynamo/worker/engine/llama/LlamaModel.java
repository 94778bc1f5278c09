package io.dynamo.worker.engine.llama;

import io.dynamo.json.Json;
import io.dynamo.json.JsonObject;
import io.dynamo.worker.engine.llama.math.Kernel;
import io.dynamo.worker.engine.llama.sample.SamplingPlan;
import io.dynamo.worker.engine.llama.sample.TokenTrie;
import io.dynamo.worker.engine.llama.weights.LlamaWeights;
import java.io.IOException;
import java.io.UncheckedIOException;
import java.lang.System.Logger.Level;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.List;
import java.util.Map;
import java.util.stream.IntStream;
import org.jspecify.annotations.Nullable;

/**
 * All that an engine needs of a model directory. Immutable by agreement; shared by all ranks.
 *
 * @param ends ids at which the model's own texts end
 * @param sampling what a request leaves open
 * @param vocabulary the tokens by their bytes, for guided choices; null where the tokenizer has
 *     none
 */
public record LlamaModel(
    LlamaWeights weights,
    int[] ends,
    SamplingPlan.Defaults sampling,
    @Nullable TokenTrie vocabulary) {
  private static final System.Logger LOG = System.getLogger(LlamaModel.class.getName());

  /**
   * Loads a Hugging Face model directory: {@code config.json}, {@code model.safetensors}, and where
   * they are there {@code generation_config.json} and {@code tokenizer.json}.
   *
   * @throws IllegalArgumentException when a file is broken, or of a model this engine cannot run
   * @throws UncheckedIOException when a file cannot be read
   */
  public static LlamaModel load(Path directory, Kernel kernel) {
    var weights = LlamaWeights.load(directory, kernel);
    var config = json(directory.resolve("config.json"));
    var generation = json(directory.resolve("generation_config.json"));
    var ends = ends(generation);
    return new LlamaModel(
        weights,
        ends.length == 0 ? ends(config) : ends,
        sampling(generation),
        vocabulary(directory.resolve("tokenizer.json")));
  }

  private static JsonObject json(Path file) {
    try {
      return Files.isRegularFile(file)
          ? Json.readObject(Files.readAllBytes(file))
          : new JsonObject(Map.of());
    } catch (IOException e) {
      throw new UncheckedIOException("cannot read " + file, e);
    } catch (IllegalArgumentException e) {
      throw new IllegalArgumentException(file + ": " + e.getMessage(), e);
    }
  }

  private static int[] ends(JsonObject config) {
    return switch (config.members().get("eos_token_id")) {
      case Number one -> new int[] {one.intValue()};
      case List<?> several ->
          several.stream()
              .flatMapToInt(
                  id -> id instanceof Number n ? IntStream.of(n.intValue()) : IntStream.empty())
              .toArray();
      case null, default -> new int[0];
    };
  }

  private static SamplingPlan.Defaults sampling(JsonObject generation) {
    var members = generation.members();
    if (!Boolean.TRUE.equals(members.get("do_sample"))) {
      return SamplingPlan.Defaults.GREEDY;
    }
    return new SamplingPlan.Defaults(
        number(members.get("temperature"), 1f),
        (int) number(members.get("top_k"), 0f),
        number(members.get("top_p"), 1f));
  }

  private static float number(@Nullable Object value, float otherwise) {
    return value instanceof Number number ? number.floatValue() : otherwise;
  }

  private static @Nullable TokenTrie vocabulary(Path tokenizer) {
    if (!Files.isRegularFile(tokenizer)) {
      return null;
    }
    try {
      return TokenTrie.of(Files.readAllBytes(tokenizer));
    } catch (IOException e) {
      throw new UncheckedIOException("cannot read " + tokenizer, e);
    } catch (IllegalArgumentException e) {
      LOG.log(Level.INFO, "no guided choices with {0}: {1}", tokenizer, e.getMessage());
      return null;
    }
  }
}
