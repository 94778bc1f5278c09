package io.dynamo.router.select;

/**
 * What it costs to serve a prompt somewhere, in KV blocks: Dynamo's default cost with the device
 * tier alone.
 *
 * @param overlapScoreCredit blocks of prefill that one cached block is worth
 */
public record CostModel(double overlapScoreCredit) {
  /** What {@code cost} needs to know of the prompt. */
  public record Prompt(int tokens, int blockTokens) {}

  /**
   * Lower is better.
   *
   * @param overlapBlocks leading blocks cached there
   * @param activePrefillTokens prompt tokens already waiting or running there
   * @param decodeBlocks blocks active there with this prompt's own
   */
  public double cost(Prompt prompt, int overlapBlocks, long activePrefillTokens, int decodeBlocks) {
    double prefillBlocks = (activePrefillTokens + prompt.tokens()) / (double) prompt.blockTokens();
    return Math.max(0, prefillBlocks - overlapScoreCredit * overlapBlocks) + decodeBlocks;
  }

  /** Prompt tokens left to prefill where {@code overlapBlocks} are cached. */
  public static long tokensToPrefill(Prompt prompt, int overlapBlocks) {
    return Math.max(0, prompt.tokens() - (long) overlapBlocks * prompt.blockTokens());
  }
}
