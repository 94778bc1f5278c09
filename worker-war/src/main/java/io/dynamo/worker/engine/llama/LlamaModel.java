package io.dynamo.worker.engine.llama;

import io.dynamo.model.vocabulary.TokenizerFile;
import io.dynamo.worker.engine.llama.math.Kernel;
import io.dynamo.worker.engine.llama.sample.TokenTrie;
import io.dynamo.worker.engine.llama.weights.LlamaWeights;
import io.dynamo.worker.engine.sampling.GenerationDefaults;
import io.dynamo.worker.engine.sampling.SamplingPlan;
import java.io.IOException;
import java.io.UncheckedIOException;
import java.lang.System.Logger.Level;
import java.nio.file.Path;
import org.jspecify.annotations.Nullable;

/**
 * The parts of a model directory that an engine needs. Immutable by agreement; shared by all ranks.
 *
 * @param ends ids at which the model's own texts end
 * @param sampling defaults for options that a request leaves open
 * @param vocabulary the tokens by their bytes, for guided choices; null without a byte-level
 *     tokenizer
 */
public record LlamaModel(
    LlamaWeights weights,
    int[] ends,
    SamplingPlan.Defaults sampling,
    @Nullable TokenTrie vocabulary) {
  private static final System.Logger LOG = System.getLogger(LlamaModel.class.getName());

  /**
   * Loads a Hugging Face model directory: {@code config.json}, {@code model.safetensors}, and,
   * where present, {@code generation_config.json} and a tokenizer.
   *
   * @throws IllegalArgumentException when a file is broken, or of a model this engine cannot run
   * @throws UncheckedIOException when a file cannot be read
   */
  public static LlamaModel load(Path directory, Kernel kernel) {
    var weights = LlamaWeights.load(directory, kernel);
    var defaults = GenerationDefaults.of(directory);
    return new LlamaModel(
        weights, defaults.ends(), defaults.sampling(), vocabulary(TokenizerFile.find(directory)));
  }

  private static @Nullable TokenTrie vocabulary(@Nullable Path tokenizer) {
    if (tokenizer == null) {
      return null;
    }
    try {
      return TokenTrie.of(TokenizerFile.read(tokenizer));
    } catch (IOException e) {
      throw new UncheckedIOException("cannot read " + tokenizer, e);
    } catch (IllegalArgumentException e) {
      LOG.log(Level.INFO, "no guided choices with {0}: {1}", tokenizer, e.getMessage());
      return null;
    }
  }
}
