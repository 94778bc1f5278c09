/**
 * Translates the KV events of engines to the blocks that routers know, and merges those of several
 * publishers. Start at {@link io.dynamo.worker.engine.remote.blocks.EngineBlocks}. Knows nothing of
 * how events arrive.
 */
@NullMarked
package io.dynamo.worker.engine.remote.blocks;

import org.jspecify.annotations.NullMarked;
