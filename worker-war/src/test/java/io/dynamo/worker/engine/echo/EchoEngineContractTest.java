package io.dynamo.worker.engine.echo;

import io.dynamo.worker.engine.Engine;
import io.dynamo.worker.engine.EngineContract;
import io.dynamo.worker.engine.ThreadPacer;
import java.time.Duration;

/** Runs the contract in real time, on a thread. */
class EchoEngineContractTest extends EngineContract {
  @Override
  protected Engine newEngine() {
    var config = new EchoEngine.Config(1000, 16, 8, Duration.ofNanos(200_000), 8);
    return new EchoEngine(config, new ThreadPacer());
  }
}
