package io.dynamo.worker.engine;

import io.dynamo.error.InvalidRequestException;
import io.dynamo.transfer.HostMemory.Region;

/**
 * Full KV blocks of the beginning of a sequence, one after the other in a region, for another
 * engine with the same weights. Owns the region; the arrays never change.
 *
 * @param layout the form of a block's bytes; only engines that name the same one understand each
 *     other
 * @param tokens the tokens that the blocks cover; further tokens are ignored
 * @param checksums the CRC-32C of each block, first to last
 */
public record KvBlocks(KvLayout layout, int[] tokens, int[] checksums, Region bytes)
    implements AutoCloseable {
  /** Returns the number of blocks. */
  public int count() {
    return checksums.length;
  }

  /** Returns the bytes of all blocks. */
  public long byteSize() {
    return layout.blockBytes() * count();
  }

  /**
   * Checks the form and every byte.
   *
   * @throws InvalidRequestException when the blocks are not of {@code expected}, or damaged
   */
  public void requireIntact(KvLayout expected) {
    expected.requireFits(layout, tokens.length, count());
    if (byteSize() > bytes.byteSize()) {
      throw new InvalidRequestException("a KV block is damaged: its bytes are missing");
    }
    for (int i = 0; i < count(); i++) {
      if (bytes.crc32c(i * layout.blockBytes(), layout.blockBytes()) != checksums[i]) {
        throw new InvalidRequestException("KV block %d is damaged".formatted(i));
      }
    }
  }

  /** Closes the region. */
  @Override
  public void close() {
    bytes.close();
  }
}
