package io.dynamo.worker.engine.llamacpp;

import io.dynamo.json.Json;
import io.dynamo.json.JsonObject;
import java.io.IOException;
import java.lang.System.Logger.Level;
import java.net.URI;
import java.net.http.HttpClient;
import java.net.http.HttpRequest;
import java.net.http.HttpResponse;
import java.time.Duration;
import java.util.concurrent.CountDownLatch;
import java.util.concurrent.ExecutorService;
import java.util.concurrent.Executors;
import java.util.concurrent.TimeUnit;

/**
 * The connection to one server. Safe for concurrent use; it has its own threads, which end with
 * {@link #close}.
 */
final class LlamaCppServer implements AutoCloseable {
  private static final System.Logger LOG = System.getLogger(LlamaCppServer.class.getName());
  private static final Duration CONNECT = Duration.ofSeconds(5);
  private static final Duration ANSWER = Duration.ofSeconds(10); // of trivial requests
  private static final Duration BETWEEN_TRIES = Duration.ofMillis(100);
  private static final Duration END = Duration.ofSeconds(5);

  private final URI base;
  private final CountDownLatch closed = new CountDownLatch(1);
  private final ExecutorService threads = Executors.newVirtualThreadPerTaskExecutor();
  private final HttpClient client;

  LlamaCppServer(URI base) {
    this.base = base;
    this.client =
        HttpClient.newBuilder()
            .version(HttpClient.Version.HTTP_1_1)
            .connectTimeout(CONNECT)
            .proxy(HttpClient.Builder.NO_PROXY)
            .executor(threads)
            .build();
  }

  URI base() {
    return base;
  }

  /**
   * Waits until the server has loaded its model, by polling, since the server sends no
   * notification.
   *
   * @throws IllegalStateException when the server is not ready within {@code timeout}, or is no
   *     llama.cpp server, or after {@link #close}
   */
  ServerFacts awaitReady(Duration timeout) throws InterruptedException {
    long begun = System.nanoTime();
    while (true) {
      String why;
      try {
        var health = get("/health");
        if (health.statusCode() == 200) {
          return ServerFacts.of(object("/props"), object("/v1/models"));
        }
        why = "it answers " + health.statusCode();
      } catch (IOException e) {
        why = e.toString();
      } catch (IllegalArgumentException e) {
        throw new IllegalStateException(
            "%s is no llama.cpp server as this engine knows it: %s".formatted(base, e.getMessage()),
            e);
      }
      if (System.nanoTime() - begun >= timeout.toNanos()) {
        throw new IllegalStateException(
            "the llama.cpp server at %s was not ready within %s (%s); start it, or set dynamo.worker.llamacpp.url"
                .formatted(base, timeout, why));
      }
      if (closed.await(BETWEEN_TRIES.toNanos(), TimeUnit.NANOSECONDS)) {
        throw new IllegalStateException("nobody waits for " + base + " any more");
      }
    }
  }

  private JsonObject object(String path) throws IOException, InterruptedException {
    var answer = get(path);
    if (answer.statusCode() != 200) {
      throw new IllegalArgumentException(path + " answers " + answer.statusCode());
    }
    try {
      return Json.readObject(answer.body());
    } catch (IllegalArgumentException e) {
      throw new IllegalArgumentException("the answer of " + path + " " + e.getMessage(), e);
    }
  }

  private HttpResponse<byte[]> get(String path) throws IOException, InterruptedException {
    return client.send(
        HttpRequest.newBuilder(base.resolve(path)).timeout(ANSWER).build(),
        HttpResponse.BodyHandlers.ofByteArray());
  }

  /**
   * Sends a completion request. Does not wait.
   *
   * @param onNews called on any thread when the exchange has new data
   */
  Exchange complete(byte[] body, Runnable onNews) {
    var exchange = new Exchange(onNews);
    var request =
        HttpRequest.newBuilder(base.resolve("/completion"))
            .header("Content-Type", "application/json")
            .POST(HttpRequest.BodyPublishers.ofByteArray(body))
            .build();
    exchange.begin(client.sendAsync(request, exchange));
    return exchange;
  }

  /** Closes all exchanges. Idempotent. */
  @Override
  public void close() {
    closed.countDown();
    client.shutdownNow();
    try {
      if (!client.awaitTermination(END)) {
        LOG.log(Level.WARNING, "the HTTP client for {0} still runs after {1}", base, END);
      }
    } catch (InterruptedException e) {
      Thread.currentThread().interrupt();
    }
    threads.shutdownNow();
  }
}
