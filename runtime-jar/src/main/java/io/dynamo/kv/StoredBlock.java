package io.dynamo.kv;

import io.dynamo.token.BlockHash;
import io.dynamo.token.SequenceHash;

/**
 * A block that a cache holds now.
 *
 * @param hash the engine's own identifier of the block and its prefix ({@code block_hash});
 *     removals and parents refer to it
 * @param content the hash of its tokens ({@code tokens_hash})
 */
public record StoredBlock(SequenceHash hash, BlockHash content) {}
