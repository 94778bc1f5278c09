package io.dynamo.router.load;

import io.dynamo.token.BlockHashes;
import org.jspecify.annotations.Nullable;

/**
 * The load that one request adds to a rank.
 *
 * @param prompt the blocks that count as active; empty when blocks are not counted
 * @param promptTokens prompt length in tokens, with the last, incomplete block
 * @param blockTokens tokens per KV block
 * @param countsOutput whether blocks of generated tokens count, too
 * @param expectedOutputTokens expected output length in tokens; the blocks that only this request
 *     holds fade as it is approached; null keeps them whole
 */
public record Work(
    String requestId,
    BlockHashes prompt,
    int promptTokens,
    int blockTokens,
    boolean countsOutput,
    @Nullable Integer expectedOutputTokens) {
  /** Returns the work of a prompt of whole blocks of one token, whose output does not count. */
  static Work of(BlockHashes prompt) {
    return new Work("", prompt, prompt.length(), 1, false, null);
  }
}
