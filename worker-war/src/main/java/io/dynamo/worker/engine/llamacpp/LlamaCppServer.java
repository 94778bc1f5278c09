package io.dynamo.worker.engine.llamacpp;

import io.dynamo.worker.engine.remote.EngineHttp;
import io.dynamo.worker.engine.remote.LineExchange;
import java.io.IOException;
import java.net.URI;
import java.time.Duration;
import java.util.Map;

/** The connection to one llama.cpp server. Safe for concurrent use. */
final class LlamaCppServer implements AutoCloseable {
  private final EngineHttp http;

  LlamaCppServer(URI base) {
    this.http =
        new EngineHttp(
            "llama.cpp", base, "dynamo.worker.llamacpp.url", null, null, EngineHttp.MAX_BODY);
  }

  /**
   * Waits until the server has loaded its model.
   *
   * @throws IllegalStateException when the server is not ready within {@code timeout}, or is no
   *     llama.cpp server, or after {@link #close}
   */
  ServerFacts awaitReady(Duration timeout) throws InterruptedException {
    return http.awaitReady(timeout, this::facts);
  }

  private ServerFacts facts() throws IOException, InterruptedException {
    http.requireOk("/health");
    return ServerFacts.of(http.object("/props"), http.object("/v1/models"));
  }

  /**
   * Sends a completion request. Does not wait.
   *
   * @param onNews called on any thread when the exchange has new data
   */
  LineExchange complete(byte[] body, Runnable onNews) {
    return http.stream("/completion", body, Map.of(), onNews);
  }

  /** Closes all exchanges. Idempotent. */
  @Override
  public void close() {
    http.close();
  }
}
