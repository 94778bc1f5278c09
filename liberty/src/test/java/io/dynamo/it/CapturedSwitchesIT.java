package io.dynamo.it;

import static org.assertj.core.api.Assertions.assertThat;

import java.nio.file.Path;
import java.time.Duration;
import java.util.Comparator;
import java.util.List;
import java.util.Map;
import java.util.Objects;
import org.junit.jupiter.api.AfterAll;
import org.junit.jupiter.api.BeforeAll;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

/**
 * Replays the requests that were captured with Dynamo 1.6.1's frontend under other settings than
 * the standard ones, and without workers, to ours under the same.
 */
@ManyServers
@Sampled
class CapturedSwitchesIT {
  private static final Duration LIMIT = Duration.ofSeconds(60);

  private static final String WORDS = "word ".repeat(64);

  @TempDir static Path folder;

  private static CapturedFleet fleet;

  @BeforeAll
  static void start() throws Exception {
    fleet = new CapturedFleet("captured-switches", folder);
  }

  @AfterAll
  static void stop() {
    if (fleet != null) {
      fleet.close();
    }
  }

  @Test
  void switchesActAsTheCapturedOnes() throws Exception {
    var switches =
        Map.ofEntries(
            Map.entry("DYN_RUNTIME_INHIBITED_DURATION_SECS", "0"),
            Map.entry("DYN_HTTP_SSE_KEEP_ALIVE_INTERVAL_MS", "300"),
            Map.entry("DYN_HTTP_PRE_COMMIT_ERROR_PEEK_MS", "1000"),
            Map.entry("DYN_ENABLE_FORCE_INCLUDE_USAGE", "true"),
            Map.entry("DYN_IGNORE_OPENAI_FE_UNSUPPORTED_FIELDS", "true"),
            Map.entry("DYN_HTTP_BODY_LIMIT_MB", "1"),
            Map.entry("DYN_DISABLE_FRONTEND_ADMIN_API", "true"),
            Map.entry("DYN_VLLM_ENABLE_INFERENCE_V1_GENERATE", "true"),
            Map.entry("DYN_SGLANG_ENABLE_GENERATE", "true"),
            Map.entry("DYN_ENABLE_STREAMING_TOOL_DISPATCH", "true"),
            Map.entry("DYN_ENABLE_STREAMING_REASONING_DISPATCH", "true"),
            Map.entry("DYN_REASONING_FIELD_NAME", "reasoning"),
            Map.entry("DYN_CONTEXT_WINDOW", "777"),
            Map.entry("DYN_MAX_OUTPUT_TOKENS", "55"));
    try (var server = fleet.frontend("captured-options", switches)) {
      CapturedReplay.to(server).before(fleet).compare("options");
    }
  }

  @Test
  void timeoutsAndDisabledExtensionsActAsTheCapturedOnes() throws Exception {
    var switches =
        Map.of(
            "DYN_HTTP_BACKEND_STREAM_TIMEOUT_SECS", "3",
            "DYN_DISABLE_FRONTEND_NVEXT", "true",
            "DYN_HTTP_OVERLOAD_STATUS_CODE", "429",
            "DYN_STRIP_ANTHROPIC_PREAMBLE", "false",
            "DYN_RUNTIME_INHIBITED_DURATION_SECS", "1");
    try (var server = fleet.frontend("captured-timeouts", switches)) {
      CapturedReplay.to(server).before(fleet).compare("options2");
    }
  }

  /** While a long stream is on its way. */
  @Test
  void aFrontendThatEndsAnswersAsTheCapturedOne() throws Exception {
    try (var server = fleet.frontend("captured-drain", Map.of());
        var stream = server.chat(ChatClient.body("hermes", CapturedFleet.SLOW, 1000, true))) {
      var begun = Objects.requireNonNull(stream.next());

      server.terminate();

      Polling.until("it drains", LIMIT, () -> server.get("/v1/models").statusCode() == 503);
      CapturedReplay.to(server).compare("drain");
      assertThat(begun.text() + stream.text()).isEqualTo(CapturedFleet.SLOW_ANSWER);
      server.awaitExit();
    }
  }

  /** A long stream keeps the mocker busy, once any use of its cache counts as that. */
  @Test
  void aFrontendBeforeAMockerAnswersAsTheCapturedOne() throws Exception {
    var store = folder.resolve("mocker-store");
    try (var _ =
            PeerProcess.mocker(
                "captured-mocker", store, "--block-size", "16", "--speedup-ratio", "10");
        var server =
            ServerProcess.Plan.named("captured-before-mocker")
                .with("DYN_DISCOVERY_BACKEND", "file")
                .with("DYN_FILE_KV", store.toString())
                .with("DYN_ROUTER_MODE", "kv")
                .jvm("-Ddynamo.role=frontend")
                .start()) {
      server.awaitReady();
      Polling.until(
          "the mocker's model is listed",
          LIMIT,
          () -> server.get("/v1/models").body().contains(Cluster.MODEL));
      var replay = CapturedReplay.to(server).withoutTexts();

      replay.compare("mocker");

      var overload = inOrder(Transcript.group("overload"), "set", "reset");
      try (var stream = server.chat(ChatClient.body(Cluster.MODEL, WORDS, 8000, true))) {
        assertThat(stream.next()).isNotNull();
        replay.compare("overload", overload.subList(0, 1));
        Polling.until("its only worker is busy", LIMIT, () -> status(server) == 529);
        replay.compare("overload", overload);
      }
    }
  }

  private static int status(ServerProcess server) throws Exception {
    try (var client = server.chat(ChatClient.body(Cluster.MODEL, "Hello", 1, false))) {
      return client.status();
    }
  }

  /** The transcripts with {@code first} before and {@code last} behind the others. */
  private static List<Transcript> inOrder(List<Transcript> transcripts, String first, String last) {
    return transcripts.stream()
        .sorted(
            Comparator.comparingInt(
                each -> each.name().equals(first) ? 0 : each.name().equals(last) ? 2 : 1))
        .toList();
  }

  @Test
  void aFrontendWithoutWorkersAnswersAsTheCapturedOne() throws Exception {
    try (var server =
        ServerProcess.Plan.named("captured-idle")
            .with("DYN_DISCOVERY_BACKEND", "mem")
            .jvm("-Ddynamo.role=frontend")
            .start()) {
      Polling.until("it answers", LIMIT, () -> server.get("/v1/models").statusCode() == 200);
      CapturedReplay.to(server).compare("idle");
    }
  }
}
