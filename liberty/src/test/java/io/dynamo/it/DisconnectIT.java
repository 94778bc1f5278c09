package io.dynamo.it;

import static org.assertj.core.api.Assertions.assertThat;

import java.time.Duration;
import org.junit.jupiter.api.AfterAll;
import org.junit.jupiter.api.BeforeAll;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.parallel.Isolated;

/** A client that has gone is a cancel at the engine. Under TLS: {@link TlsIT}. */
@Sampled
@Isolated("its times would be those of other tests, too")
class DisconnectIT {
  private static final Duration WITHIN = Duration.ofMillis(50);
  private static final Duration INTERVAL = Duration.ofMillis(50);

  @SuppressWarnings("NullAway.Init") // before all
  private static ServerProcess server;

  @SuppressWarnings("NullAway.Init") // before all
  private static ServerProcess withoutLibrary;

  /** Both at once. */
  @BeforeAll
  static void start() {
    server = plan("disconnect", "40ms").start();
    // to the library's loader, a machine that it was not built for; prompts outlast a heartbeat
    withoutLibrary = plan("disconnect-java", "100ms").jvm("-Dos.arch=x86-64-unknown").start();
    server.awaitReady();
    withoutLibrary.awaitReady();
  }

  @AfterAll
  static void stop() {
    server.close();
    withoutLibrary.close();
  }

  private static ServerProcess.Plan plan(String name, String prefillPerToken) {
    return ServerProcess.Plan.named(name)
        .with("DYNAMO_WORKER_PREFILL_PER_TOKEN", prefillPerToken)
        .with("DYNAMO_WORKER_TOKEN_INTERVAL", INTERVAL.toMillis() + "ms");
  }

  @Test
  void clientThatHangsUpIsACancelAtTheEngine() throws Exception {
    try (var warm = server.chat(ChatClient.body(Cluster.MODEL, "Warm up", 4, true))) {
      assertThat(warm.text()).isNotEmpty();
    }
    assertThat(Departures.median(server, "prefill", true, false, ChatClient::hangUp))
        .isLessThan(WITHIN);
    assertThat(Departures.median(server, "stream", true, true, ChatClient::hangUp))
        .isLessThan(WITHIN);
    assertThat(Departures.median(server, "unary", false, false, ChatClient::hangUp))
        .isLessThan(WITHIN);
    assertThat(Departures.median(server, "reset", true, true, ChatClient::reset))
        .isLessThan(WITHIN);
    assertThat(Departures.median(server, "unary reset", false, false, ChatClient::reset))
        .isLessThan(WITHIN);
    assertThat(server.get("/health/ready").body()).contains("\"native\":\"present\"");
  }

  @Test
  void withoutTheNativeLibraryHeartbeatsFindTheClientThatHungUp() throws Exception {
    assertThat(withoutLibrary.get("/health/ready").body()).doesNotContain("\"native\":\"present\"");
    assertThat(withoutLibrary.messages())
        .contains("clients that hang up are found by heartbeats only, since no native library");
    assertThat(Departures.median(withoutLibrary, "heartbeat", true, false, ChatClient::hangUp))
        .isLessThan(Duration.ofMillis(1500));
    assertThat(Departures.median(withoutLibrary, "write", true, true, ChatClient::hangUp))
        .isLessThan(Duration.ofMillis(1500));
  }
}
