package io.dynamo.worker.engine.llama;

import io.dynamo.error.InvalidRequestException;
import io.dynamo.worker.engine.llama.weights.LlamaShape;
import java.util.List;
import java.util.zip.CRC32C;

/**
 * Full KV blocks of the beginning of a sequence, for transfer to another engine with the same
 * weights. The record owns its arrays; they never change.
 *
 * @param shape the shape of the model that computed them
 * @param tokens the tokens that the blocks cover; further tokens are ignored
 * @param blocks first to last
 */
public record KvBlocks(LlamaShape shape, int blockTokens, int[] tokens, List<Block> blocks) {
  /**
   * One block's bytes: per layer {@code [kvHeads] {keys [headDim][blockTokens], values
   * [blockTokens][headDim]}}, little-endian floats.
   *
   * @param crc32c the CRC-32C of the bytes
   */
  public record Block(byte[] bytes, int crc32c) {
    boolean isIntact() {
      var crc = new CRC32C();
      crc.update(bytes);
      return (int) crc.getValue() == crc32c;
    }
  }

  public KvBlocks {
    blocks = List.copyOf(blocks);
  }

  void requireFits(LlamaShape model, int tokensPerBlock) {
    if (!shape.equals(model) || blockTokens != tokensPerBlock) {
      throw new InvalidRequestException("the KV blocks are of another model or block size");
    }
    if (tokens.length < (long) blocks.size() * blockTokens) {
      throw new InvalidRequestException(
          "%d KV blocks of %d tokens come with %d tokens"
              .formatted(blocks.size(), blockTokens, tokens.length));
    }
    for (var block : blocks) {
      if (block.bytes.length != KvStore.blockBytes(shape, blockTokens) || !block.isIntact()) {
        throw new InvalidRequestException("a KV block is damaged");
      }
    }
  }
}
