package io.dynamo.worker.engine.llama;

/**
 * The size of a {@link LlamaEmbedder}, and what its vectors are.
 *
 * @param maxRequests requests that run and wait at once; more are refused
 * @param blockTokens tokens per KV block
 * @param blocks KV blocks, which hold the prompts of one pass; a prompt is at most as long as they
 * @param passTokens tokens that one forward pass computes at most; longer prompts are split
 * @param unitLength whether vectors are scaled to length 1
 */
public record LlamaEmbedderConfig(
    int maxRequests,
    int blockTokens,
    int blocks,
    int passTokens,
    Pooling pooling,
    boolean unitLength) {
  public LlamaEmbedderConfig {
    atLeastOne("maxRequests", maxRequests);
    atLeastOne("blockTokens", blockTokens);
    atLeastOne("blocks", blocks);
    atLeastOne("passTokens", passTokens);
  }

  private static void atLeastOne(String what, int value) {
    if (value < 1) {
      throw new IllegalArgumentException("%s %d is below 1".formatted(what, value));
    }
  }
}
