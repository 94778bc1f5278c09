package io.dynamo.it;

import java.io.IOException;
import java.nio.file.Path;
import java.time.Duration;
import java.util.Collections;
import java.util.Map;

/** The workers of the captures, on NVIDIA's own runtime, and frontends of ours before them. */
final class CapturedFleet implements AutoCloseable {
  private static final Duration LIMIT = Duration.ofSeconds(60);

  private static final int STEPS = 120;

  /** A prompt that is answered in twelve seconds. */
  static final String SLOW =
      "@@{\"items\": [%s]}@@"
          .formatted(
              String.join(",", Collections.nCopies(STEPS, "{\"t\": \"alpha\", \"sleep\": 100}")));

  static final String SLOW_ANSWER = "alpha".repeat(STEPS);

  private final Path store;
  private final PeerProcess workers;

  /**
   * Starts the workers.
   *
   * @param folder for their models and their discovery, empty
   */
  CapturedFleet(String name, Path folder) throws IOException {
    store = folder.resolve("store");
    workers =
        PeerProcess.script(
            name + "-workers", store, "captured_workers.py", folder.resolve("models").toString());
  }

  /** A frontend of ours that lists the workers' models. */
  ServerProcess frontend(String name, Map<String, String> environment) throws Exception {
    var plan =
        ServerProcess.Plan.named(name)
            .with("DYN_DISCOVERY_BACKEND", "file")
            .with("DYN_FILE_KV", store.toString())
            .jvm("-Ddynamo.role=frontend");
    for (var variable : environment.entrySet()) {
      plan = plan.with(variable.getKey(), variable.getValue());
    }
    var server = plan.start();
    try {
      server.awaitReady();
      Polling.until(
          "the last model is listed",
          LIMIT,
          () -> server.get("/v1/models").body().contains("\"emb\""));
      return server;
    } catch (Exception | AssertionError failure) {
      server.close();
      throw failure;
    }
  }

  /** The output of the workers so far. */
  String console() {
    return workers.console();
  }

  @Override
  public void close() {
    workers.close();
  }
}
