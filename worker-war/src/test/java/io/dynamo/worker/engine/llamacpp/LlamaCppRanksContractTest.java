package io.dynamo.worker.engine.llamacpp;

import io.dynamo.worker.engine.Engine;
import io.dynamo.worker.engine.EngineContract;
import io.dynamo.worker.engine.SharedLoops;
import io.dynamo.worker.engine.llama.TinyModel;
import io.dynamo.worker.engine.sampling.GenerationDefaults;
import java.nio.file.Path;
import java.util.List;
import java.util.Objects;
import org.jspecify.annotations.Nullable;
import org.junit.jupiter.api.AfterAll;
import org.junit.jupiter.api.BeforeAll;
import org.junit.jupiter.api.io.TempDir;

/** Runs the contract over two of llama.cpp's own servers. */
class LlamaCppRanksContractTest extends EngineContract {
  @TempDir private static Path folder;
  @TempDir private static Path otherFolder;
  private static @Nullable ServerProcess server;
  private static @Nullable ServerProcess other;

  @BeforeAll
  static void serve() throws Exception {
    server = ServerProcess.start(folder, 4);
    other = ServerProcess.start(otherFolder, 4);
  }

  @AfterAll
  static void end() {
    if (server != null) {
      server.close();
    }
    if (other != null) {
      other.close();
    }
  }

  @Override
  protected Engine newEngine() {
    return new LlamaCppRanks(
        SharedLoops.LOOPS,
        List.of(
            LlamaCppEngineContractTest.config(Objects.requireNonNull(server).address()),
            LlamaCppEngineContractTest.config(Objects.requireNonNull(other).address())),
        GenerationDefaults.of(TinyModel.DIRECTORY),
        () -> 42,
        System::nanoTime);
  }
}
