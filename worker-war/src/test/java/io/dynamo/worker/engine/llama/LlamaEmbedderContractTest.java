package io.dynamo.worker.engine.llama;

import io.dynamo.worker.engine.EmbeddingContract;
import io.dynamo.worker.engine.EmbeddingEngine;
import io.dynamo.worker.engine.HeapMemory;
import io.dynamo.worker.engine.ThreadPacer;
import io.dynamo.worker.engine.llama.math.Kernels;

/** Runs the contract in real time, on a thread: the same bits, however a prompt was computed. */
class LlamaEmbedderContractTest extends EmbeddingContract {
  @Override
  protected EmbeddingEngine newEngine() {
    return new LlamaEmbedder(
        new LlamaEmbedderConfig(8, 16, 64, 64, Pooling.LAST, true),
        TinyModel.model(Kernels.best()),
        new HeapMemory(),
        new ThreadPacer());
  }

  @Override
  protected float tolerance() {
    return 0;
  }
}
