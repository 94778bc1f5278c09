package io.dynamo.worker.engine.llamacpp;

import io.dynamo.worker.engine.Engine;
import io.dynamo.worker.engine.EngineContract;
import io.dynamo.worker.engine.SharedLoops;
import io.dynamo.worker.engine.llama.TinyModel;
import io.dynamo.worker.engine.sampling.GenerationDefaults;
import java.net.URI;
import java.nio.file.Path;
import java.time.Duration;
import java.util.Objects;
import org.jspecify.annotations.Nullable;
import org.junit.jupiter.api.AfterAll;
import org.junit.jupiter.api.BeforeAll;
import org.junit.jupiter.api.io.TempDir;

/** Runs the contract over llama.cpp's own server. */
class LlamaCppEngineContractTest extends EngineContract {
  @TempDir private static Path folder;
  private static @Nullable ServerProcess server;

  @BeforeAll
  static void serve() throws Exception {
    server = ServerProcess.start(folder, 4);
  }

  @AfterAll
  static void end() {
    if (server != null) {
      server.close();
    }
  }

  static LlamaCppConfig config(URI at) {
    return new LlamaCppConfig(
        at, null, null, Duration.ofSeconds(20), Duration.ofSeconds(20), 16, 4096, 16, 8);
  }

  @Override
  protected Engine newEngine() {
    return new LlamaCppEngine(
        SharedLoops.LOOPS,
        config(Objects.requireNonNull(server).address()),
        GenerationDefaults.of(TinyModel.DIRECTORY),
        () -> 42);
  }
}
