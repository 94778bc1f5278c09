package io.dynamo.worker.engine.remote.blocks;

import io.dynamo.kv.StoredBlock;
import io.dynamo.token.BlockHash;
import io.dynamo.token.SequenceHash;
import org.jspecify.annotations.Nullable;

/**
 * A block's place and content as routers know them.
 *
 * @param name the block's name for routers
 * @param parent the name of the block before it; null at the start of a sequence
 * @param salt the cache salt of its sequence; null for none
 */
record BlockDescription(
    SequenceHash name, @Nullable SequenceHash parent, BlockHash content, @Nullable String salt) {
  StoredBlock stored() {
    return new StoredBlock(name, content);
  }
}
