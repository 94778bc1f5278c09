package io.dynamo.worker.engine.mock;

import io.dynamo.worker.engine.HeapMemory;
import io.dynamo.worker.engine.ThreadPacer;
import java.time.Duration;

/** Simulations for the tests of other packages. */
public final class MockEngines {
  private MockEngines() {}

  /** Returns two ranks in real time, on threads: a token per millisecond, ids below 20. */
  public static MockEngine quick() {
    var config =
        new MockEngineConfig(
            2,
            4,
            4,
            1000,
            4,
            256,
            64,
            Scheduling.of(new PassTiming.Linear(Duration.ofNanos(1000), Duration.ofMillis(1))),
            64,
            7,
            8);
    return new MockEngine(
        config,
        new OracleTokens(new int[] {10, 11, 12}, 9),
        new Xxh3BlockHashing(),
        new HeapMemory(),
        new ThreadPacer());
  }
}
