package io.dynamo.it;

import static org.assertj.core.api.Assertions.assertThat;

import java.io.IOException;
import java.nio.file.Path;
import java.time.Duration;
import java.util.Map;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

/** A router that is restarted beside KV events stored by JetStream, of our worker and Dynamo's. */
@ManyServers
@Sampled
class StoredEventsIT {
  private static final Duration LIMIT = Duration.ofSeconds(60);
  private static final int BLOCKS = 4 * LongPrompts.COUNT; // of the long prompts, at least
  private static final String MOCKED = "mocked";

  @TempDir static Path folder;

  private static ServerProcess.Plan server(String name, String role, NatsProcess nats) {
    return ServerProcess.Plan.named(name)
        .with("DYN_DISCOVERY_BACKEND", "file")
        .with("DYN_FILE_KV", folder.resolve("store").toString())
        .with("DYN_EVENT_PLANE", "nats")
        .with("NATS_SERVER", nats.url())
        .with("DYN_ROUTER_DURABLE_KV_EVENTS", "true")
        .with("DYN_ROUTER_SNAPSHOT_THRESHOLD", "4")
        .with("DYNAMO_WORKER_MODEL_PATH", PeerProcess.model().toString())
        .jvm("-Ddynamo.role=" + role);
  }

  private static void awaitModels(ServerProcess frontend) {
    Polling.until(
        "both models are listed",
        LIMIT,
        () ->
            frontend.get("/v1/models").body().contains('"' + Cluster.MODEL + '"')
                && frontend.get("/v1/models").body().contains('"' + MOCKED + '"'));
  }

  private static long metric(ServerProcess server, String name, String label)
      throws IOException, InterruptedException {
    return ServerFacts.metric(server, "dynamo_router_" + name, label);
  }

  private static long written(ServerProcess server) throws IOException, InterruptedException {
    return metric(server, "snapshots_total", "result=\"written\"");
  }

  @Test
  void aRestartedRouterIsWarmFromSnapshotAndStoredEvents() throws Exception {
    try (var nats = NatsProcess.startWithJetStream("stored-nats", folder.resolve("jetstream"));
        var worker = server("stored-worker", "worker", nats).start();
        var mocker =
            PeerProcess.mocker(
                "stored-mocker",
                folder.resolve("store"),
                Map.of("DYN_EVENT_PLANE", "nats", "NATS_SERVER", nats.url()),
                "--model-name",
                MOCKED,
                "--endpoint",
                "dyn://mocked.backend.generate",
                "--block-size",
                "16")) {
      try (var first = server("stored-frontend", "frontend", nats).start()) {
        first.awaitReady();
        worker.awaitReady();
        awaitModels(first);
        for (var model : new String[] {Cluster.MODEL, MOCKED}) {
          LongPrompts.askAll(first.port(), model, "Early");
        }
        Polling.until(
            "it has heard both workers",
            LIMIT,
            () -> metric(first, "index_blocks", "") >= 2L * BLOCKS);
        Polling.until(
            "snapshots of both are written",
            LIMIT,
            () -> written(first) + written(worker) >= 2); // either server has a router
      }

      try (var second = server("stored-frontend-again", "frontend", nats).start()) {
        second.awaitReady();
        awaitModels(second);
        Polling.until(
            "it knows the blocks of both without having heard of them",
            LIMIT,
            () -> metric(second, "restored_blocks_total", "") >= 2L * BLOCKS);
        assertThat(metric(second, "restored_ranks_total", "result=\"restored\"")).isPositive();
        assertThat(second.folder().resolve("logs/messages.log"))
            .content()
            .contains("ranks are known from a snapshot of");
        for (var model : new String[] {Cluster.MODEL, MOCKED}) {
          LongPrompts.askAll(second.port(), model, "Early");
        }
        Polling.until(
            "it finds them",
            LIMIT,
            () -> metric(second, "overlap_blocks_total", "") >= 2L * BLOCKS);
        assertThat(mocker.metric("dynamo_component_requests_total", ServerFacts.GENERATE))
            .isEqualTo(2L * LongPrompts.COUNT);
      }
    }
  }
}
