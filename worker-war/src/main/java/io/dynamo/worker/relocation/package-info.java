/**
 * Moves the KV blocks of running generations to other workers, so that a drain costs no prompt
 * computed twice: start at {@link io.dynamo.worker.relocation.BlockSender}. Knows nothing of how
 * bytes travel, and of no particular engine.
 */
@NullMarked
package io.dynamo.worker.relocation;

import org.jspecify.annotations.NullMarked;
