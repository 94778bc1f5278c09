package io.dynamo.worker.engine.mock;

import io.dynamo.worker.engine.Engine;
import io.dynamo.worker.engine.EngineContract;

/** Runs the contract in real time, on threads. */
class MockEngineContractTest extends EngineContract {
  @Override
  protected Engine newEngine() {
    return MockEngines.quick();
  }
}
