package io.dynamo.worker.engine;

import io.dynamo.concurrent.Deadline;
import io.dynamo.request.RequestContext;
import org.jspecify.annotations.Nullable;

/**
 * An {@link Engine} whose KV blocks can go to another engine with the same weights. Safe for
 * concurrent use; blocks its caller, not the engine.
 */
public interface BlockPort {
  /** Returns the form of the blocks. */
  KvLayout layout();

  /**
   * Copies the full blocks of a running generation.
   *
   * @param generation the context that it was started with
   * @return the blocks, for the caller to close; null when it does not run any more, or has no full
   *     block
   * @throws io.dynamo.error.DeadlineExceededException when the engine has not copied them in time
   */
  @Nullable KvBlocks exportBlocks(RequestContext generation, Deadline deadline)
      throws InterruptedException;

  /**
   * Adds blocks of another engine to the cache of the rank with the least work; the next generation
   * on it that starts with their tokens reuses them.
   *
   * @return the number of blocks that were not cached before; fewer than given when the rank has no
   *     room
   * @throws io.dynamo.error.InvalidRequestException when they are of another layout, or damaged
   * @throws io.dynamo.error.DeadlineExceededException when the engine has not taken them in time
   */
  int importBlocks(KvBlocks blocks, Deadline deadline) throws InterruptedException;
}
