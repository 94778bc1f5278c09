package io.dynamo.it;

import static org.assertj.core.api.Assertions.assertThat;

import java.io.IOException;
import java.time.Duration;
import java.util.Arrays;
import org.junit.jupiter.api.Test;

/**
 * A client that has gone is a cancel at the engine. The engine notes when a generation was given up
 * and the worker tells how long ago that is; the test takes that age from its own clock after the
 * answer has come, so that what it measures is too long by the answer's way, never too short.
 */
class DisconnectIT {
  private static final Duration PROMPT = Duration.ofMillis(50);
  private static final Duration INTERVAL = Duration.ofMillis(50);
  private static final int TRIES = 9; // the median counts: a busy machine may be late now and then

  @FunctionalInterface
  private interface Departure {
    void leave(ChatClient client) throws IOException;
  }

  private static ServerProcess.Plan plan(String name) {
    return ServerProcess.Plan.named(name)
        .with("DYNAMO_WORKER_PREFILL_PER_TOKEN", "100ms")
        .with("DYNAMO_WORKER_TOKEN_INTERVAL", INTERVAL.toMillis() + "ms");
  }

  @Test
  void clientThatHangsUpIsACancelAtTheEngine() throws Exception {
    try (var server = plan("disconnect").start().awaitReady()) {
      try (var warm = post(server, "Warm up", true, 4)) {
        assertThat(warm.text()).isNotEmpty();
      }
      assertThat(median(server, "prefill", true, false, ChatClient::hangUp)).isLessThan(PROMPT);
      assertThat(median(server, "stream", true, true, ChatClient::hangUp)).isLessThan(PROMPT);
      assertThat(median(server, "unary", false, false, ChatClient::hangUp)).isLessThan(PROMPT);
      assertThat(median(server, "reset", true, true, ChatClient::reset))
          .isLessThan(PROMPT.plus(INTERVAL)); // noticed at the next write
      assertThat(server.get("/health/ready").body()).contains("\"native\":\"present\"");
    }
  }

  @Test
  void withoutTheNativeLibraryHeartbeatsFindTheClientThatHungUp() throws Exception {
    // to the library's loader, a machine that it was not built for
    var plan = plan("disconnect-java").with("JVM_ARGS", "-Xmx512m -Dos.arch=x86-64-unknown");
    try (var server = plan.start().awaitReady()) {
      assertThat(server.get("/health/ready").body()).doesNotContain("\"native\":\"present\"");
      assertThat(server.messages())
          .contains("without the native library, clients that hang up are found by heartbeats");
      assertThat(median(server, "heartbeat", true, false, ChatClient::hangUp))
          .isLessThan(Duration.ofMillis(1500));
      assertThat(median(server, "write", true, true, ChatClient::hangUp))
          .isLessThan(Duration.ofMillis(1500));
    }
  }

  /**
   * The median time from the client's departure to the end at the engine.
   *
   * @param flowing whether it leaves after its first text, or while its prompt is worked on
   */
  private static Duration median(
      ServerProcess server, String name, boolean stream, boolean flowing, Departure departure)
      throws Exception {
    var nanos = new long[TRIES];
    for (int i = 0; i < TRIES; i++) {
      // a prompt of its own each time, so that none is cached
      try (var client = post(server, i + " " + name, stream, 400)) {
        nanos[i] = nanosToCancel(server, client, flowing, departure);
      }
    }
    Arrays.sort(nanos);
    var median = Duration.ofNanos(nanos[TRIES / 2]);
    System.out.printf(
        "%s: median %.1f ms, worst %.1f ms%n",
        name, nanos[TRIES / 2] / 1e6, nanos[TRIES - 1] / 1e6);
    return median;
  }

  private static long nanosToCancel(
      ServerProcess server, ChatClient client, boolean flowing, Departure departure)
      throws Exception {
    Polling.until(
        "the engine has it",
        Duration.ofSeconds(10),
        () -> ServerFacts.worker(server).running() == 1);
    if (flowing) {
      awaitText(client);
    }
    long before = ServerFacts.worker(server).cancelled();
    long left = System.nanoTime();
    departure.leave(client);
    var ended = new long[1];
    Polling.until(
        "the engine has given it up",
        Duration.ofSeconds(10),
        () -> {
          var status = ServerFacts.worker(server);
          ended[0] = System.nanoTime() - status.lastCancelAgeNanos();
          return status.cancelled() == before + 1 && status.running() == 0;
        });
    return ended[0] - left;
  }

  private static ChatClient post(ServerProcess server, String prompt, boolean stream, int tokens)
      throws IOException {
    return ChatClient.post(server.port(), ChatClient.body(Cluster.MODEL, prompt, tokens, stream));
  }

  private static void awaitText(ChatClient client) throws IOException {
    for (var event = client.next(); event != null; event = client.next()) {
      if (!event.text().isEmpty()) {
        return;
      }
    }
    throw new AssertionError("the stream ended without text");
  }
}
