package io.dynamo.worker.engine;

import io.dynamo.error.InvalidRequestException;

/**
 * The form of an engine's KV blocks. Blocks of two engines are alike when their layouts are equal
 * and their weights are the same.
 *
 * @param name the engine, the shape of its model, and the order and type of the numbers
 */
public record KvLayout(String name, int blockTokens, long blockBytes) {
  /**
   * Checks blocks that are offered.
   *
   * @throws InvalidRequestException when they are of another layout, or not covered by the tokens
   */
  public void requireFits(KvLayout offered, int tokens, int blocks) {
    if (!equals(offered)) {
      throw new InvalidRequestException(
          "the KV blocks are of another model or block size: %s, not %s".formatted(offered, this));
    }
    if (tokens < (long) blocks * blockTokens) {
      throw new InvalidRequestException(
          "%d KV blocks of %d tokens come with %d tokens".formatted(blocks, blockTokens, tokens));
    }
  }
}
