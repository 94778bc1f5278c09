package io.dynamo.worker.engine.llama;

import io.dynamo.worker.engine.Engine;
import io.dynamo.worker.engine.EngineContract;
import io.dynamo.worker.engine.HeapMemory;
import io.dynamo.worker.engine.ThreadPacer;
import io.dynamo.worker.engine.llama.math.Kernels;

/** Runs the contract in real time, on threads. */
class LlamaEngineContractTest extends EngineContract {
  @Override
  protected Engine newEngine() {
    return new LlamaEngine(
        new LlamaEngineConfig(2, 4, 4, 16, 256, 64, 8),
        TinyModel.model(Kernels.best()),
        new HeapMemory(),
        new ThreadPacer(),
        () -> 42);
  }
}
