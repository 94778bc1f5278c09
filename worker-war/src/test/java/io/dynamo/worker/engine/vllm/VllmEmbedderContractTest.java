package io.dynamo.worker.engine.vllm;

import io.dynamo.worker.engine.EmbeddingContract;
import io.dynamo.worker.engine.EmbeddingEngine;
import io.dynamo.worker.engine.remote.FakeEmbeddings;
import java.io.IOException;
import org.junit.jupiter.api.AfterAll;
import org.junit.jupiter.api.BeforeAll;

/** Runs the contract over a server that answers as vLLM's does. */
class VllmEmbedderContractTest extends EmbeddingContract {
  private static FakeEmbeddings server;

  @BeforeAll
  static void serve() throws IOException {
    server = new FakeEmbeddings();
  }

  @AfterAll
  static void end() {
    server.close();
  }

  @Override
  protected EmbeddingEngine newEngine() {
    return VllmEmbedderTest.engine(server.address());
  }

  @Override
  protected float tolerance() {
    return 0;
  }
}
