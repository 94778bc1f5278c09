package io.dynamo.worker.engine.trtllm;

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

/** Runs the contract over a server that answers as trtllm-serve is specified to. */
class TrtllmEngineContractTest extends EngineContract {
  private static final Duration LIMIT = Duration.ofSeconds(20);
  private @Nullable FakeTrtllm server;

  static RemoteEngine engine(URI at, @Nullable Integer blockTokens) {
    return new RemoteEngine(
        SharedLoops.LOOPS,
        new RemoteConfig(at, null, null, LIMIT, LIMIT, 4, 4096, 4096, 2, 8),
        new TrtllmDialect(new RemoteWishes(null, blockTokens, null, null, 4, 4096), 4096),
        null);
  }

  @Override
  protected Engine newEngine() {
    try {
      if (server == null) {
        server = new FakeTrtllm();
      }
      return engine(server.address(), null);
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
