package io.dynamo.worker.engine.llamacpp;

import io.dynamo.json.Json;
import io.dynamo.json.JsonObject;
import io.dynamo.model.RenderedSample;
import io.dynamo.pipeline.EventLoops;
import io.dynamo.worker.engine.remote.EngineHttp;
import io.dynamo.worker.engine.remote.LineExchange;
import io.dynamo.worker.engine.remote.Samples;
import java.io.IOException;
import java.time.Duration;
import java.util.Map;
import org.jspecify.annotations.Nullable;

/** The connection to one llama.cpp server. Safe for concurrent use. */
final class LlamaCppServer implements AutoCloseable {
  private static final String NAME = "llama.cpp";
  private static final Duration RENDERING = Duration.ofSeconds(10);

  private final EngineHttp http;

  LlamaCppServer(EventLoops loops, LlamaCppConfig config) {
    this.http =
        new EngineHttp(
            loops,
            NAME,
            config.server(),
            "dynamo.worker.llamacpp.url",
            config.key(),
            config.tls(),
            EngineHttp.MAX_BODY);
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
   * @param onNews called on an event loop when the exchange has new data
   */
  LineExchange complete(byte[] body, Runnable onNews) {
    return http.stream("/completion", body, Map.of(), onNews);
  }

  /** Returns the server's token ids of a sample text; null when it does not give them. */
  @Nullable RenderedSample sample() throws InterruptedException {
    return Samples.ask(NAME, LlamaCppServer::sample, http);
  }

  /**
   * Asks for a text alone: the server's own template has switches that no prompt from here uses.
   */
  private static @Nullable RenderedSample sample(EngineHttp http)
      throws IOException, InterruptedException {
    var body =
        JsonObject.ordered(
            "content", RenderedSample.TEXT, "add_special", false, "parse_special", true);
    var answer = http.post("/tokenize", Json.write(body), RENDERING);
    return answer.statusCode() == 200
        ? RenderedSample.ofText(Json.readObject(answer.body()).list("tokens"))
        : null;
  }

  /** Returns the server's metrics as Prometheus' text; empty when it does not give them soon. */
  String metrics() {
    return http.metrics("/metrics");
  }

  /** Closes all exchanges. Idempotent. */
  @Override
  public void close() {
    http.close();
  }
}
