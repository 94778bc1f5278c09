package io.dynamo.inference;

import java.util.List;
import org.jspecify.annotations.Nullable;

/**
 * A request to a worker for the embeddings of prompts: Dynamo's {@code
 * PreprocessedEmbeddingRequest}.
 *
 * @param prompts token ids of each, owned by the record and never changed
 * @param base64 whether the client wants base64; workers answer in base64 either way
 * @param dimensions the length of each embedding, null for the model's own
 * @param truncatedTo the length to which prompts were cut, null when they are whole
 * @param cardChecksum {@code mdc_sum}
 */
public record EmbeddingRequest(
    String model,
    List<int[]> prompts,
    boolean base64,
    @Nullable Integer dimensions,
    @Nullable Integer truncatedTo,
    @Nullable String cardChecksum,
    List<String> annotations) {
  public EmbeddingRequest {
    prompts = List.copyOf(prompts);
    annotations = List.copyOf(annotations);
  }

  /** The number of tokens of all prompts. */
  public int tokens() {
    int tokens = 0;
    for (var prompt : prompts) {
      tokens = Math.addExact(tokens, prompt.length);
    }
    return tokens;
  }
}
