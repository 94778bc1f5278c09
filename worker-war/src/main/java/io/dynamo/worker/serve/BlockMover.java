package io.dynamo.worker.serve;

import io.dynamo.concurrent.Deadline;
import io.dynamo.inference.GenerateRequest;
import io.dynamo.request.RequestContext;

/**
 * Moves the computed blocks of a running generation to a worker that may continue it. Safe for
 * concurrent use.
 */
@FunctionalInterface
public interface BlockMover {
  /** Moves nothing: the next worker computes the text so far again. */
  BlockMover NONE = (_, _, _) -> {};

  /**
   * Copies the blocks of a generation to another worker, and returns when they are usable there.
   * Never throws for a failure: then the other worker computes them again.
   */
  void move(GenerateRequest request, RequestContext generation, Deadline deadline)
      throws InterruptedException;
}
