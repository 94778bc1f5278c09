package io.dynamo.worker.engine.llamacpp;

import io.dynamo.worker.engine.remote.EmbeddingDialect;
import io.dynamo.worker.engine.remote.EngineHttp;
import java.io.IOException;
import java.util.Arrays;
import java.util.Map;
import org.jspecify.annotations.Nullable;

/** Speaks to llama.cpp's server with token ids. Immutable. */
public final class LlamaCppEmbeddings implements EmbeddingDialect {
  private static final int EUCLIDEAN = 2;
  private static final int NONE = -1;

  private final int modelPositions;
  private final boolean unitLength;

  /**
   * @param modelPositions positions of the model according to its own files
   * @param unitLength whether the server scales vectors to length 1
   */
  public LlamaCppEmbeddings(int modelPositions, boolean unitLength) {
    this.modelPositions = modelPositions;
    this.unitLength = unitLength;
  }

  @Override
  public String engine() {
    return "llama.cpp";
  }

  @Override
  public Facts ask(EngineHttp http) throws IOException, InterruptedException {
    http.requireOk("/health");
    var models = http.object("/v1/models");
    var facts = ServerFacts.of(http.object("/props"), models);
    return new Facts(
        models.optionalObjects("data").getFirst().text("id"),
        Math.min(facts.positions() - 1, modelPositions), // it wants room for one more
        facts.vocabulary());
  }

  @Override
  public Object input(int[] prompt) {
    return Arrays.stream(prompt).boxed().toList();
  }

  /** {@inheritDoc} It has no option of its own for {@code dimensions}: the vectors are cut here. */
  @Override
  public Map<String, ?> options(@Nullable Integer dimensions) {
    return Map.of("embd_normalize", unitLength ? EUCLIDEAN : NONE);
  }

  @Override
  public String advice() {
    return "start it with --embedding, and --pooling last, mean or cls";
  }
}
