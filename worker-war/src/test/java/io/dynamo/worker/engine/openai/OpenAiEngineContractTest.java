package io.dynamo.worker.engine.openai;

import io.dynamo.json.Json;
import io.dynamo.worker.engine.Engine;
import io.dynamo.worker.engine.EngineContract;
import io.dynamo.worker.engine.SharedLoops;
import io.dynamo.worker.engine.llama.TinyModel;
import io.dynamo.worker.engine.remote.RemoteConfig;
import io.dynamo.worker.engine.remote.RemoteEngine;
import io.dynamo.worker.engine.remote.RemoteWishes;
import java.io.IOException;
import java.io.UncheckedIOException;
import java.net.URI;
import java.nio.file.Files;
import java.time.Duration;
import org.jspecify.annotations.Nullable;
import org.junit.jupiter.api.AfterEach;

class OpenAiEngineContractTest extends EngineContract {
  static final TextVocabulary VOCABULARY = vocabulary();
  private static final Duration LIMIT = Duration.ofSeconds(20);
  private @Nullable FakeOpenAi server;

  private static TextVocabulary vocabulary() {
    try {
      var json = Json.readObject(Files.readAllBytes(TinyModel.DIRECTORY.resolve("tokenizer.json")));
      return TextVocabulary.of(json);
    } catch (IOException e) {
      throw new UncheckedIOException(e);
    }
  }

  static RemoteEngine engine(URI at, @Nullable String model) {
    return engine(at, model, LIMIT);
  }

  static RemoteEngine engine(URI at, @Nullable String model, Duration silence) {
    return new RemoteEngine(
        SharedLoops.LOOPS,
        new RemoteConfig(at, "secret", null, LIMIT, silence, 4, 4096, 4096, 1, 8),
        new OpenAiDialect(new RemoteWishes(model, null, null, null, 4, 4096), 4096, 16, VOCABULARY),
        null);
  }

  @Override
  protected Engine newEngine() {
    try {
      if (server == null) {
        server = new FakeOpenAi();
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
