package io.dynamo.router.select;

import java.util.concurrent.atomic.AtomicInteger;

/** Takes candidates in turn. Safe for concurrent use. */
public final class RoundRobin {
  private final AtomicInteger turn = new AtomicInteger();

  /** Returns the next index below {@code candidates}, which is at least 1. */
  public int next(int candidates) {
    return Integer.remainderUnsigned(turn.getAndIncrement(), candidates);
  }
}
