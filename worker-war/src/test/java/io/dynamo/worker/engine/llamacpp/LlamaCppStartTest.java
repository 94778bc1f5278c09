package io.dynamo.worker.engine.llamacpp;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import com.sun.net.httpserver.HttpServer;
import io.dynamo.worker.engine.EngineContract;
import io.dynamo.worker.engine.SharedLoops;
import io.dynamo.worker.engine.sampling.GenerationDefaults;
import java.net.InetAddress;
import java.net.InetSocketAddress;
import java.net.URI;
import java.nio.file.Path;
import java.time.Duration;
import java.util.Set;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.ConcurrentHashMap;
import java.util.concurrent.CountDownLatch;
import java.util.concurrent.TimeUnit;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

/** Tests the wait for a server that never gets its model loaded. */
class LlamaCppStartTest {
  @TempDir Path model;
  private final CountDownLatch asked = new CountDownLatch(2);
  private final Set<String> keys = ConcurrentHashMap.newKeySet();
  private HttpServer server;

  @BeforeEach
  void serve() throws Exception {
    server = HttpServer.create(new InetSocketAddress(InetAddress.getLoopbackAddress(), 0), 0);
    server.createContext(
        "/",
        exchange -> {
          keys.add(String.valueOf(exchange.getRequestHeaders().getFirst("Authorization")));
          asked.countDown();
          exchange.sendResponseHeaders(503, -1);
          exchange.close();
        });
    server.start();
  }

  @AfterEach
  void stop() {
    server.stop(0);
  }

  private LlamaCppEngine engine(Duration startTimeout) {
    var at = URI.create("http://127.0.0.1:" + server.getAddress().getPort());
    return new LlamaCppEngine(
        SharedLoops.LOOPS,
        new LlamaCppConfig(at, "secret", null, startTimeout, Duration.ofSeconds(1), 4, 100, 16, 8),
        GenerationDefaults.of(model),
        () -> 1);
  }

  @Test
  void aServerThatIsNotReadyInTimeIsNamedWithWhatItSays() {
    try (var engine = engine(Duration.ofMillis(1))) {
      assertThatThrownBy(() -> engine.start(EngineContract.DEAF))
          .isInstanceOf(IllegalStateException.class)
          .hasMessageContaining("127.0.0.1")
          .hasMessageContaining("it answers 503")
          .hasMessageContaining("dynamo.worker.llamacpp.url");
    }
  }

  @Test
  void theKeyIsSent() {
    try (var engine = engine(Duration.ofMillis(1))) {
      assertThatThrownBy(() -> engine.start(EngineContract.DEAF))
          .isInstanceOf(IllegalStateException.class)
          .hasMessageNotContaining("secret");
    }
    assertThat(keys).containsExactly("Bearer secret");
    assertThat(
            new LlamaCppConfig(
                URI.create("http://h:1"),
                "secret",
                null,
                Duration.ofSeconds(1),
                Duration.ofSeconds(1),
                4,
                100,
                16,
                8))
        .asString()
        .doesNotContain("secret");
  }

  @Test
  void closeDoesNotWaitForTheServer() throws Exception {
    var engine = engine(Duration.ofHours(1));
    var failure = new CompletableFuture<Throwable>();
    var starting =
        Thread.ofVirtual()
            .start(
                () -> {
                  try {
                    engine.start(EngineContract.DEAF);
                  } catch (IllegalStateException closed) {
                    failure.complete(closed);
                  }
                });
    assertThat(asked.await(10, TimeUnit.SECONDS)).isTrue();
    engine.close();
    assertThat(starting.join(Duration.ofSeconds(10))).isTrue();
    assertThat(failure.get(1, TimeUnit.SECONDS)).hasMessageContaining("nobody waits");
    assertThatThrownBy(() -> engine.start(EngineContract.DEAF))
        .isInstanceOf(IllegalStateException.class);
  }
}
