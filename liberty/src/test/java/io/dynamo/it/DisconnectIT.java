package io.dynamo.it;

import static org.assertj.core.api.Assertions.assertThat;

import java.io.IOException;
import java.time.Duration;
import java.util.regex.Pattern;
import org.junit.jupiter.api.AfterAll;
import org.junit.jupiter.api.BeforeAll;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.TestInstance;

/**
 * A client that has gone is a cancel at the engine. The worker counts its running generations in a
 * gauge; the test sees them end, and allows one interval of its own polling beside the 50 ms.
 */
@Tag("pending")
@TestInstance(TestInstance.Lifecycle.PER_CLASS)
class DisconnectIT {
  private static final Pattern RUNNING =
      Pattern.compile("(?m)^dynamo_worker_running_generations(?:\\{[^}]*})? ([0-9.]+)");
  private static final Duration PROMPT = Duration.ofMillis(50);
  private static final Duration POLLING = Duration.ofMillis(100);

  private ServerProcess server;

  @BeforeAll
  void start() {
    server =
        ServerProcess.Plan.named("disconnect")
            .with("DYNAMO_WORKER_PREFILL_PER_TOKEN", "PT0.05S")
            .with("DYNAMO_WORKER_TOKEN_INTERVAL", "PT0.05S")
            .start()
            .awaitReady();
  }

  @AfterAll
  void stop() {
    server.close();
  }

  @Test
  void closingDuringPrefillCancels() throws Exception {
    try (var client = post("a prompt of some length ".repeat(20), true)) {
      awaitRunning(1);
      client.hangUp();
      assertThat(nanosUntilIdle()).isLessThan(PROMPT.plus(POLLING).toNanos());
    }
  }

  @Test
  void closingMidStreamCancels() throws Exception {
    try (var client = post("Hi", true)) {
      awaitText(client);
      client.hangUp();
      assertThat(nanosUntilIdle()).isLessThan(PROMPT.plus(POLLING).toNanos());
    }
  }

  @Test
  void closingAUnaryRequestCancels() throws Exception {
    try (var client = post("Hi", false)) {
      awaitRunning(1);
      client.hangUp();
      assertThat(nanosUntilIdle()).isLessThan(PROMPT.plus(POLLING).toNanos());
    }
  }

  @Test
  void resetIsNoticedAtTheNextWrite() throws Exception {
    try (var client = post("Hi", true)) {
      awaitText(client);
      client.reset();
      assertThat(nanosUntilIdle()).isLessThan(PROMPT.multipliedBy(2).plus(POLLING).toNanos());
    }
  }

  private ChatClient post(String prompt, boolean stream) throws IOException {
    return ChatClient.post(server.port(), ChatClient.body(Cluster.MODEL, prompt, 400, stream));
  }

  private static void awaitText(ChatClient client) throws IOException {
    for (var event = client.next(); event != null; event = client.next()) {
      if (!event.text().isEmpty()) {
        return;
      }
    }
    throw new AssertionError("the stream ended without text");
  }

  private void awaitRunning(int generations) {
    Polling.until(generations + " running", Duration.ofSeconds(10), () -> running() == generations);
  }

  private long nanosUntilIdle() {
    return Polling.until("idle", Duration.ofSeconds(10), () -> running() == 0);
  }

  private int running() throws Exception {
    var gauge = RUNNING.matcher(server.get("/metrics").body());
    assertThat(gauge.find()).as("gauge of running generations").isTrue();
    return (int) Double.parseDouble(gauge.group(1));
  }
}
