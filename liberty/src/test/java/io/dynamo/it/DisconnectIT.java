package io.dynamo.it;

import static org.assertj.core.api.Assertions.assertThat;

import java.time.Duration;
import org.junit.jupiter.api.Test;

/** A client that has gone is a cancel at the engine. Under TLS: {@link TlsIT}. */
class DisconnectIT {
  private static final Duration WITHIN = Duration.ofMillis(50);
  private static final Duration INTERVAL = Duration.ofMillis(50);

  private static ServerProcess.Plan plan(String name) {
    return ServerProcess.Plan.named(name)
        .with("DYNAMO_WORKER_PREFILL_PER_TOKEN", "100ms")
        .with("DYNAMO_WORKER_TOKEN_INTERVAL", INTERVAL.toMillis() + "ms");
  }

  @Test
  void clientThatHangsUpIsACancelAtTheEngine() throws Exception {
    try (var server = plan("disconnect").start().awaitReady()) {
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
  }

  @Test
  void withoutTheNativeLibraryHeartbeatsFindTheClientThatHungUp() throws Exception {
    // to the library's loader, a machine that it was not built for
    var plan = plan("disconnect-java").jvm("-Dos.arch=x86-64-unknown");
    try (var server = plan.start().awaitReady()) {
      assertThat(server.get("/health/ready").body()).doesNotContain("\"native\":\"present\"");
      assertThat(server.messages())
          .contains("clients that hang up are found by heartbeats only, since no native library");
      assertThat(Departures.median(server, "heartbeat", true, false, ChatClient::hangUp))
          .isLessThan(Duration.ofMillis(1500));
      assertThat(Departures.median(server, "write", true, true, ChatClient::hangUp))
          .isLessThan(Duration.ofMillis(1500));
    }
  }
}
