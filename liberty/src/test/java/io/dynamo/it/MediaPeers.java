package io.dynamo.it;

import java.nio.file.Path;
import java.time.Duration;
import java.util.List;

/**
 * Our frontend before workers on NVIDIA's own runtime that make images, videos and speech, or talk.
 */
record MediaPeers(PeerProcess workers, ServerProcess frontend) {
  private static final Duration LIMIT = Duration.ofSeconds(60);

  /** Starts them; returns when the frontend lists {@code models}. */
  static MediaPeers start(String name, Path store, List<String> models) throws Exception {
    var workers =
        PeerProcess.script(
            name + "-workers", store, "media_workers.py", PeerProcess.model().toString());
    var frontend =
        ServerProcess.Plan.named(name + "-ours")
            .with("DYN_DISCOVERY_BACKEND", "file")
            .with("DYN_FILE_KV", store.toString())
            .jvm("-Ddynamo.role=frontend")
            .start()
            .awaitReady();
    for (var model : models) {
      Polling.until(
          model + " is listed",
          LIMIT,
          () -> frontend.get("/v1/models").body().contains("\"" + model + "\""));
    }
    return new MediaPeers(workers, frontend);
  }

  void close() throws Exception {
    frontend.close();
    workers.close();
  }
}
