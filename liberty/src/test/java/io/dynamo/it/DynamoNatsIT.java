package io.dynamo.it;

import static org.assertj.core.api.Assertions.assertThat;

import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.time.Duration;
import java.util.Map;
import org.junit.jupiter.api.AfterAll;
import org.junit.jupiter.api.BeforeAll;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

/** Dynamo's own frontend and mocker beside ours: file discovery, requests and events over NATS. */
@ManyServers
class DynamoNatsIT {
  private static final Duration LIMIT = Duration.ofSeconds(40);

  @TempDir static Path stores;

  @SuppressWarnings("NullAway.Init") // before all
  private static NatsProcess nats;

  @BeforeAll
  static void start() throws IOException {
    nats = NatsProcess.start("dynamo-nats");
  }

  @AfterAll
  static void stop() {
    if (nats != null) {
      nats.close();
    }
  }

  private static Map<String, String> planes() {
    return Map.of(
        "DYN_REQUEST_PLANE", "nats", "DYN_EVENT_PLANE", "nats", "NATS_SERVER", nats.url());
  }

  private static ServerProcess.Plan server(String name, String role, Path store) {
    var plan =
        ServerProcess.Plan.named(name)
            .with("DYN_DISCOVERY_BACKEND", "file")
            .with("DYN_FILE_KV", store.toString())
            .with("DYNAMO_WORKER_MODEL_PATH", PeerProcess.model().toString())
            .jvm("-Ddynamo.role=" + role);
    for (var variable : planes().entrySet()) {
      plan = plan.with(variable.getKey(), variable.getValue());
    }
    return plan;
  }

  @Test
  void eachRouterFindsPrefixesByTheEventsOfTheOthersWorker() throws Exception {
    var ours = stores.resolve("ours");
    var theirs = stores.resolve("theirs");
    try (var frontend = server("nats-frontend", "frontend", ours).start();
        var worker = server("nats-worker", "worker", theirs).start();
        var mocker = PeerProcess.mocker("nats-mocker", ours, planes(), "--block-size", "16");
        var peer =
            PeerProcess.frontend("nats-peer-frontend", theirs, planes(), "--router-mode", "kv")) {
      frontend.awaitReady();
      Polling.until(
          "our frontend lists the model of their mocker",
          LIMIT,
          () -> frontend.get("/v1/models").body().contains('"' + Cluster.MODEL + '"'));
      ourRouterHearsTheMocker(frontend);
      assertThat(instanceOf(ours)).contains("\"nats_tcp\":\"dynamo_backend.generate-");
      assertThat(mocker.metric("dynamo_component_requests_total", ServerFacts.GENERATE))
          .isEqualTo(2L * LongPrompts.COUNT);

      worker.awaitReady();
      Polling.until(
          "their frontend lists the model of our worker", LIMIT, () -> peer.lists(Cluster.MODEL));
      theirRouterHearsOurWorker(peer);
      assertThat(instanceOf(theirs)).contains("\"nats_tcp\":\"dynamo_backend.generate-");
      streamsAreAnswered(frontend.port());
      streamsAreAnswered(peer.port());
    }
  }

  /** The record of the instance that generates. */
  private static String instanceOf(Path store) throws IOException {
    try (var records = Files.list(store.resolve("v1/instances"))) {
      return Files.readString(
          records
              .filter(record -> record.getFileName().toString().contains("generate"))
              .findFirst()
              .orElseThrow());
    }
  }

  private static void streamsAreAnswered(int port) throws IOException {
    var body = ChatClient.body(Cluster.MODEL, "Tell me a story", 30, true);
    try (var client = ChatClient.post(port, body)) {
      assertThat(client.text()).isNotBlank();
    }
  }

  private static void ourRouterHearsTheMocker(ServerProcess frontend) throws Exception {
    long blocks = ServerFacts.metric(frontend, "dynamo_router_index_blocks", "");
    LongPrompts.askAll(frontend.port());
    Polling.until(
        "our router has their blocks in its index",
        LIMIT,
        () ->
            ServerFacts.metric(frontend, "dynamo_router_index_blocks", "") - blocks
                >= 4L * LongPrompts.COUNT);
    LongPrompts.askAll(frontend.port());
    Polling.until(
        "our router finds the prefixes",
        LIMIT,
        () ->
            ServerFacts.metric(frontend, "dynamo_router_overlap_blocks_total", "")
                >= 4L * LongPrompts.COUNT);
  }

  private static void theirRouterHearsOurWorker(PeerProcess frontend) throws Exception {
    assertThat(LongPrompts.askAll(frontend.port())).containsOnly(0);
    Polling.until(
        "their router has taken our events",
        LIMIT,
        () ->
            frontend.metric(
                    "dynamo_component_kv_cache_events_applied",
                    "event_type=\"stored\"",
                    "status=\"ok\"")
                >= LongPrompts.COUNT);
    assertThat(LongPrompts.askAll(frontend.port())).allMatch(tokens -> tokens >= 64);
    assertThat(frontend.metric("dynamo_component_router_kv_selected_cached_prefix_tokens_total"))
        .isGreaterThanOrEqualTo(64L * LongPrompts.COUNT);
  }
}
