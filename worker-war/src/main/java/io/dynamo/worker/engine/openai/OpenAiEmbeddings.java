package io.dynamo.worker.engine.openai;

import io.dynamo.worker.engine.remote.EmbeddingDialect;
import io.dynamo.worker.engine.remote.EngineHttp;
import java.io.IOException;
import java.util.Map;
import org.jspecify.annotations.Nullable;

/** Speaks to any server with {@code /v1/embeddings}, by text. Immutable. */
public final class OpenAiEmbeddings implements EmbeddingDialect {
  private final @Nullable String model;
  private final int modelPositions;
  private final int tokenIds;
  private final TextVocabulary vocabulary;

  /**
   * @param model one of the server's models; null takes its first
   * @param modelPositions positions of the model, where the server does not say
   * @param tokenIds number of token ids of the model
   * @param vocabulary of the model that the server serves
   */
  public OpenAiEmbeddings(
      @Nullable String model, int modelPositions, int tokenIds, TextVocabulary vocabulary) {
    this.model = model;
    this.modelPositions = modelPositions;
    this.tokenIds = tokenIds;
    this.vocabulary = vocabulary;
  }

  @Override
  public String engine() {
    return OpenAiDialect.NAME;
  }

  @Override
  public Facts ask(EngineHttp http) throws IOException, InterruptedException {
    var served = OpenAiDialect.served(http, model);
    var positions = served.optionalCount("max_model_len");
    return new Facts(served.text("id"), positions == null ? modelPositions : positions, tokenIds);
  }

  @Override
  public Object input(int[] prompt) {
    return vocabulary.promptText(prompt);
  }

  @Override
  public Map<String, ?> options(@Nullable Integer dimensions) {
    return dimensions == null ? Map.of() : Map.of("dimensions", dimensions);
  }

  @Override
  public String advice() {
    return "name a model that embeds with dynamo.worker.remote.model";
  }
}
