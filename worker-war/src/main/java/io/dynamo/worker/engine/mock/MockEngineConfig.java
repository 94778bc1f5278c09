package io.dynamo.worker.engine.mock;

/**
 * The size and the pace of a {@link MockEngine}.
 *
 * @param maxRunning generations that a rank runs at once
 * @param maxWaiting generations that wait for a slot of a rank; more are refused
 * @param contextLength positions of one sequence
 * @param blockTokens tokens per KV block
 * @param blocksPerRank KV blocks of a rank
 * @param blockBytes bytes of a KV block; a multiple of 8
 * @param scheduling how passes are scheduled, and how long they take
 * @param defaultMaxTokens a text without a budget ends at the next multiple of this number of
 *     tokens, including its prompt
 * @param defaultSeed seed of a request without one
 * @param streamBuffer tokens held per stream without demand
 */
public record MockEngineConfig(
    int ranks,
    int maxRunning,
    int maxWaiting,
    int contextLength,
    int blockTokens,
    int blocksPerRank,
    int blockBytes,
    Scheduling scheduling,
    int defaultMaxTokens,
    long defaultSeed,
    int streamBuffer) {
  public MockEngineConfig {
    atLeast("ranks", ranks, 1);
    atLeast("maxRunning", maxRunning, 1);
    atLeast("maxWaiting", maxWaiting, 0);
    atLeast("contextLength", contextLength, 2);
    atLeast("blockTokens", blockTokens, 1);
    atLeast("blocksPerRank", blocksPerRank, 1);
    atLeast("blockBytes", blockBytes, 8);
    atLeast("defaultMaxTokens", defaultMaxTokens, 1);
    atLeast("streamBuffer", streamBuffer, 1);
    if (blockBytes % 8 != 0) {
      throw new IllegalArgumentException("blockBytes " + blockBytes + " is no multiple of 8");
    }
  }

  private static void atLeast(String what, int value, int bound) {
    if (value < bound) {
      throw new IllegalArgumentException("%s %d is below %d".formatted(what, value, bound));
    }
  }
}
