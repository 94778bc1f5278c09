package io.dynamo.worker.engine.llama;

/**
 * The size of a {@link LlamaEngine}.
 *
 * @param ranks data-parallel ranks, each with a thread and KV blocks of its own
 * @param maxRunning generations that a rank runs at once
 * @param maxWaiting generations that wait for a place on a rank; more are refused
 * @param blockTokens tokens per KV block
 * @param blocksPerRank KV blocks of a rank
 * @param passTokens tokens that one forward pass computes at most; longer prompts are split
 * @param streamBuffer tokens held per stream without demand
 */
public record LlamaEngineConfig(
    int ranks,
    int maxRunning,
    int maxWaiting,
    int blockTokens,
    int blocksPerRank,
    int passTokens,
    int streamBuffer) {
  public LlamaEngineConfig {
    atLeast("ranks", ranks, 1);
    atLeast("maxRunning", maxRunning, 1);
    atLeast("maxWaiting", maxWaiting, 0);
    atLeast("blockTokens", blockTokens, 1);
    atLeast("blocksPerRank", blocksPerRank, 1);
    atLeast("passTokens", passTokens, 1);
    atLeast("streamBuffer", streamBuffer, 1);
  }

  private static void atLeast(String what, int value, int bound) {
    if (value < bound) {
      throw new IllegalArgumentException("%s %d is below %d".formatted(what, value, bound));
    }
  }
}
