package io.dynamo.worker.engine.sglang;

import io.dynamo.worker.engine.Engine;
import io.dynamo.worker.engine.EngineContract;
import io.dynamo.worker.engine.SharedLoops;
import io.dynamo.worker.engine.remote.RemoteConfig;
import io.dynamo.worker.engine.remote.RemoteEngine;
import io.dynamo.worker.engine.remote.RemoteEvents;
import io.dynamo.worker.engine.remote.RemoteWishes;
import java.io.IOException;
import java.net.URI;
import java.time.Duration;
import org.jspecify.annotations.Nullable;
import org.junit.jupiter.api.AfterEach;

class SglangEngineContractTest extends EngineContract {
  private @Nullable FakeSglang server;

  static RemoteEngine engine(URI at, Duration silence, @Nullable RemoteEvents events) {
    return new RemoteEngine(
        SharedLoops.LOOPS,
        new RemoteConfig(at, null, null, Duration.ofSeconds(20), silence, 4, 4096, 4096, 2, 8),
        new SglangDialect(new RemoteWishes(null, null, null, null, 4, 4096)),
        events);
  }

  @Override
  protected Engine newEngine() {
    try {
      if (server == null) {
        server = new FakeSglang();
      }
      return engine(server.address(), Duration.ofSeconds(20), null);
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
