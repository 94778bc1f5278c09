package io.dynamo.router.load;

/**
 * The load of the candidates for one prompt, one array element per candidate. Valid for the choice
 * it is handed to.
 *
 * @param prefillTokens prompt tokens booked there whose first output is not out
 * @param blocks distinct prompt blocks active there
 * @param addedBlocks blocks of this prompt that are not active there
 * @param requests requests active there
 */
public record RankLoads(long[] prefillTokens, int[] blocks, int[] addedBlocks, int[] requests) {
  /** Candidates. */
  public int size() {
    return blocks.length;
  }
}
