package io.dynamo.worker.engine.vllm;

import io.dynamo.worker.engine.remote.EmbeddingDialect;
import io.dynamo.worker.engine.remote.EngineHttp;
import java.io.IOException;
import java.util.Arrays;
import java.util.Map;
import org.jspecify.annotations.Nullable;

/** Speaks to vLLM's server of a pooling model with token ids. Immutable. */
public final class VllmEmbeddings implements EmbeddingDialect {
  private final @Nullable String model;
  private final int vocabulary;

  /**
   * @param model one of the server's models; null takes its first
   * @param vocabulary number of token ids of the model
   */
  public VllmEmbeddings(@Nullable String model, int vocabulary) {
    this.model = model;
    this.vocabulary = vocabulary;
  }

  @Override
  public String engine() {
    return "vLLM";
  }

  @Override
  public Facts ask(EngineHttp http) throws IOException, InterruptedException {
    http.requireOk("/health");
    var served = VllmFacts.model(http.object("/v1/models"), model);
    return new Facts(served.text("id"), VllmFacts.positions(served), vocabulary);
  }

  @Override
  public Object input(int[] prompt) {
    return Arrays.stream(prompt).boxed().toList();
  }

  /** {@inheritDoc} vLLM cuts vectors of models that were trained for it, and refuses others. */
  @Override
  public Map<String, ?> options(@Nullable Integer dimensions) {
    return dimensions == null ? Map.of() : Map.of("dimensions", dimensions);
  }

  @Override
  public String advice() {
    return "serve an embedding model, or start it with --runner pooling";
  }
}
