package io.dynamo.it;

import java.nio.file.Path;
import java.time.Duration;
import java.util.Map;
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
      CapturedFleet.compare(server, "options");
    }
  }

  @Test
  void timeoutsAndDisabledExtensionsActAsTheCapturedOnes() throws Exception {
    var switches =
        Map.of(
            "DYN_HTTP_BACKEND_STREAM_TIMEOUT_SECS", "3",
            "DYN_DISABLE_FRONTEND_NVEXT", "true",
            "DYN_HTTP_OVERLOAD_STATUS_CODE", "429",
            "DYN_RUNTIME_INHIBITED_DURATION_SECS", "1");
    try (var server = fleet.frontend("captured-timeouts", switches)) {
      CapturedFleet.compare(server, "options2");
    }
  }

  @Test
  void aFrontendWithoutWorkersAnswersAsTheCapturedOne() throws Exception {
    try (var server =
        ServerProcess.Plan.named("captured-idle")
            .with("DYN_DISCOVERY_BACKEND", "mem")
            .jvm("-Ddynamo.role=frontend")
            .start()) {
      Polling.until("it answers", LIMIT, () -> server.get("/v1/models").statusCode() == 200);
      CapturedFleet.compare(server, "idle");
    }
  }
}
