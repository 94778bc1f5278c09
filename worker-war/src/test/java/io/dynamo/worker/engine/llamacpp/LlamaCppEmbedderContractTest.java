package io.dynamo.worker.engine.llamacpp;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.within;

import io.dynamo.worker.engine.Embedded;
import io.dynamo.worker.engine.EmbeddingContract;
import io.dynamo.worker.engine.EmbeddingEngine;
import io.dynamo.worker.engine.HeapMemory;
import io.dynamo.worker.engine.SharedLoops;
import io.dynamo.worker.engine.ThreadPacer;
import io.dynamo.worker.engine.llama.LlamaEmbedder;
import io.dynamo.worker.engine.llama.LlamaEmbedderConfig;
import io.dynamo.worker.engine.llama.LlamaModel;
import io.dynamo.worker.engine.llama.Pooling;
import io.dynamo.worker.engine.llama.TinyModel;
import io.dynamo.worker.engine.llama.math.Kernels;
import io.dynamo.worker.engine.remote.RemoteEmbedder;
import java.nio.file.Path;
import java.time.Duration;
import java.util.Objects;
import org.jspecify.annotations.Nullable;
import org.junit.jupiter.api.AfterAll;
import org.junit.jupiter.api.BeforeAll;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

/** Runs the contract over llama.cpp's own server. */
class LlamaCppEmbedderContractTest extends EmbeddingContract {
  /** Of vectors of length 1, whose numbers llama.cpp computes in another order. */
  private static final float TOLERANCE = 2e-3f;

  @TempDir private static Path folder;
  private static @Nullable ServerProcess server;

  @BeforeAll
  static void serve() throws Exception {
    server = ServerProcess.embedder(folder, "last");
  }

  @AfterAll
  static void end() {
    if (server != null) {
      server.close();
    }
  }

  @Override
  protected EmbeddingEngine newEngine() {
    return new RemoteEmbedder(
        SharedLoops.LOOPS,
        new RemoteEmbedder.Config(
            Objects.requireNonNull(server).address(),
            "dynamo.worker.llamacpp.url",
            null,
            null,
            Duration.ofSeconds(30),
            Duration.ofSeconds(60),
            2,
            8,
            true),
        new LlamaCppEmbeddings(4096, true));
  }

  @Override
  protected float tolerance() {
    return TOLERANCE;
  }

  @Test
  void vectorsAreThoseOfTheLlamaEngine() throws Exception {
    try (var theirs = newEngine();
        var ours =
            new LlamaEmbedder(
                new LlamaEmbedderConfig(8, 16, 64, 64, Pooling.LAST, true),
                LlamaModel.load(TinyModel.DIRECTORY, Kernels.best()),
                new HeapMemory(),
                new ThreadPacer())) {
      theirs.start();
      ours.start();
      var request =
          Embedded.request(
              TinyModel.golden().stream().map(TinyModel.Golden::prompt).toArray(int[][]::new));
      var expected = Embedded.of(ours, request).ended().output();
      var actual = Embedded.of(theirs, request).ended().output();
      assertThat(actual.promptTokens()).isEqualTo(expected.promptTokens());
      for (int i = 0; i < expected.vectors().size(); i++) {
        assertThat(actual.vectors().get(i))
            .as("prompt %d", i)
            .containsExactly(expected.vectors().get(i), within(TOLERANCE));
      }
    }
  }
}
