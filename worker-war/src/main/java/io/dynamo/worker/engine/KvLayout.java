package io.dynamo.worker.engine;

import io.dynamo.error.InvalidRequestException;

/**
 * The form and origin of an engine's KV blocks. Blocks of two engines are alike when their layouts
 * are equal.
 *
 * @param name the engine, the shape of its model, and the order and type of the numbers
 * @param weights a digest of the numbers of the model, by which models of one shape differ
 */
public record KvLayout(String name, String weights, int blockTokens, long blockBytes) {
  /**
   * Checks blocks that are offered.
   *
   * @throws InvalidRequestException when they are of another layout or other weights, or not
   *     covered by the tokens
   */
  public void requireFits(KvLayout offered, int tokens, int blocks) {
    if (!name.equals(offered.name)
        || blockTokens != offered.blockTokens
        || blockBytes != offered.blockBytes) {
      throw new InvalidRequestException(
          "the KV blocks are of another model or block size: %s, not %s".formatted(offered, this));
    }
    if (!weights.equals(offered.weights)) {
      throw new InvalidRequestException(
          "the KV blocks were computed with other weights: %s, not %s; give both workers the same model"
              .formatted(offered.weights, weights));
    }
    if (tokens < (long) blocks * blockTokens) {
      throw new InvalidRequestException(
          "%d KV blocks of %d tokens come with %d tokens".formatted(blocks, blockTokens, tokens));
    }
  }
}
