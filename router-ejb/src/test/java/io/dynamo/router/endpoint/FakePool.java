package io.dynamo.router.endpoint;

import io.dynamo.discovery.WorkerSet;
import io.dynamo.router.pool.PoolHits;
import io.dynamo.router.pool.SharedPool;
import io.dynamo.router.pool.SharedPools;
import java.util.ArrayList;
import java.util.List;
import org.jspecify.annotations.Nullable;

/** A pool that has the given blocks of any prompt; records the calls that it receives. */
final class FakePool implements SharedPool, SharedPools {
  private final boolean[] held;
  private final List<String> calls = new ArrayList<>();

  FakePool(boolean... held) {
    this.held = held;
  }

  List<String> calls() {
    return calls;
  }

  @Override
  public SharedPool open(WorkerSet workers, @Nullable String events) {
    calls.add("opened " + events);
    return this;
  }

  @Override
  public PoolHits find(int[] tokenIds, int blockTokens) {
    calls.add("asked");
    return PoolHits.of(held);
  }

  @Override
  public void cardsChanged() {
    calls.add("cards");
  }

  @Override
  public void close() {
    calls.add("closed");
  }
}
