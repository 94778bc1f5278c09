package io.dynamo.worker.engine.vllm;

import io.dynamo.worker.engine.Engine;
import io.dynamo.worker.engine.EngineContract;
import io.dynamo.worker.engine.SharedLoops;
import io.dynamo.worker.engine.remote.RemoteConfig;
import io.dynamo.worker.engine.remote.RemoteEngine;
import io.dynamo.worker.engine.remote.RemoteWishes;
import java.io.IOException;
import java.net.URI;
import java.time.Duration;
import org.jspecify.annotations.Nullable;
import org.junit.jupiter.api.AfterEach;

/** Runs the contract over a server that answers as vLLM does. */
class VllmEngineContractTest extends EngineContract {
  static final Duration SILENCE = Duration.ofSeconds(20);
  private @Nullable FakeVllm server;

  static RemoteEngine engine(URI at, Duration silence, @Nullable String key) {
    return new RemoteEngine(
        SharedLoops.LOOPS,
        new RemoteConfig(at, key, null, Duration.ofSeconds(20), silence, 4, 4096, 4096, 2, 8),
        new VllmDialect(new RemoteWishes(null, null, null, null, 4, 4096)),
        null);
  }

  @Override
  protected Engine newEngine() {
    try {
      if (server == null) {
        server = new FakeVllm();
      }
      return engine(server.address(), SILENCE, null);
    } catch (IOException e) {
      throw new AssertionError(e);
    }
  }

  @AfterEach
  void stop() {
    if (server != null) {
      server.close();
    }
  }
}
