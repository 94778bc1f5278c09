package io.dynamo.router.load;

/**
 * The load of the candidates for one prompt, one array element per candidate. Valid only during the
 * choice that it is passed to.
 *
 * @param prefillTokens prompt tokens booked on each candidate by requests that have no first token
 *     yet
 * @param blocks distinct prompt blocks active on each candidate
 * @param addedBlocks blocks of this prompt that are not active on each candidate
 * @param requests requests active on each candidate
 */
public record RankLoads(long[] prefillTokens, int[] blocks, int[] addedBlocks, int[] requests) {
  /** Returns the number of candidates. */
  public int size() {
    return blocks.length;
  }
}
