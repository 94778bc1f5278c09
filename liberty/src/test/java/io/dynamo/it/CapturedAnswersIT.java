package io.dynamo.it;

import java.io.IOException;
import java.nio.file.Path;
import java.util.List;
import java.util.Map;
import org.junit.jupiter.api.AfterAll;
import org.junit.jupiter.api.BeforeAll;
import org.junit.jupiter.api.io.TempDir;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.MethodSource;
import org.junit.jupiter.params.provider.ValueSource;

/**
 * Replays the requests that were captured with Dynamo 1.6.1's frontend to ours, before workers on
 * NVIDIA's own runtime that play the same scripts.
 */
@ManyServers
@Sampled
class CapturedAnswersIT {
  @TempDir static Path folder;

  private static CapturedFleet fleet;
  private static ServerProcess ours;

  @BeforeAll
  static void start() throws Exception {
    fleet = new CapturedFleet("captured", folder);
    ours = fleet.frontend("captured-ours", Map.of("DYN_RUNTIME_INHIBITED_DURATION_SECS", "0"));
  }

  @AfterAll
  static void stop() {
    if (ours != null) {
      ours.close();
    }
    if (fleet != null) {
      fleet.close();
    }
  }

  @ParameterizedTest
  @ValueSource(
      strings = {
        "budget",
        "chat",
        "chat-stop",
        "chat-finish",
        "chat-utf8",
        "chat-validation",
        "completions",
        "embeddings",
        "forwarding",
        "headers",
        "json-tolerance",
        "media-absent",
        "models",
        "nvext",
        "order",
        "reasoning",
        "worker-errors"
      })
  void answersAreTheCapturedOnes(String group) throws Exception {
    CapturedReplay.to(ours).before(fleet).compare(group);
  }

  @ParameterizedTest
  @MethodSource("disconnects")
  void clientsThatResetAreCountedAsTheCapturedOnes(String name) throws Exception {
    new CapturedDisconnects(ours, fleet).compare(name);
  }

  static List<String> disconnects() throws IOException {
    return CapturedDisconnects.names();
  }
}
