package io.dynamo.frontend.record;

import io.dynamo.token.BlockHasher;
import io.dynamo.token.BlockHashes;
import java.util.Arrays;

/**
 * The place where a prompt was computed and its answer generated.
 *
 * @param routedNanos when the first worker was chosen, by {@link System#nanoTime()}
 * @param queued requests that still waited for a worker then
 * @param overlapBlocks leading blocks of the prompt that were expected to be cached there
 */
public record Placement(
    long routedNanos, int queued, int overlapBlocks, Worker prefill, Worker decode, Prompt prompt) {
  /**
   * A rank of a worker.
   *
   * @param id unsigned
   */
  public record Worker(long id, int rank) {}

  /**
   * A prompt without its tokens.
   *
   * @param blockTokens tokens of a KV block of the model
   * @param sequences the hash of each prefix that ends with a block; the last block may be
   *     incomplete
   */
  public record Prompt(int tokens, int blockTokens, long[] sequences) {
    /** Hashes the prompt of these token ids, as Dynamo's traces do: without adapter and salt. */
    public static Prompt of(int[] ids, int blockTokens) {
      var whole = BlockHasher.of(blockTokens).hash(ids);
      var sequences = new long[Math.ceilDiv(ids.length, blockTokens)];
      for (int i = 0; i < whole.length(); i++) {
        sequences[i] = whole.sequence(i);
      }
      int rest = ids.length - whole.length() * blockTokens;
      if (rest > 0) {
        var tail = Arrays.copyOfRange(ids, ids.length - rest, ids.length);
        long block = BlockHasher.of(rest).hash(tail).block(0);
        int last = sequences.length - 1;
        sequences[last] = last == 0 ? block : BlockHashes.chain(sequences[last - 1], block);
      }
      return new Prompt(ids.length, blockTokens, sequences);
    }
  }
}
