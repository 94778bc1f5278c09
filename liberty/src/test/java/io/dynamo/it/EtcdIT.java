package io.dynamo.it;

import static org.assertj.core.api.Assertions.assertThat;

import java.io.IOException;
import java.nio.file.Path;
import java.time.Duration;
import java.util.List;
import java.util.Map;
import org.junit.jupiter.api.AfterAll;
import org.junit.jupiter.api.BeforeAll;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

/** Our servers, and Dynamo's, find each other through etcd. */
@ManyServers
class EtcdIT {
  private static final Duration LIMIT = Duration.ofSeconds(60);
  private static final String INSTANCES = "v1/instances/dynamo/backend/generate/";

  @TempDir private static Path folder;

  @SuppressWarnings("NullAway.Init") // before all
  private static EtcdProcess etcd;

  @SuppressWarnings("NullAway.Init") // before all
  private static ServerProcess frontend;

  @SuppressWarnings("NullAway.Init") // before all
  private static ServerProcess worker;

  @BeforeAll
  static void start() throws IOException {
    etcd = EtcdProcess.start(folder);
    frontend = server("etcd-frontend", "frontend").start();
    worker = server("etcd-worker", "worker").start();
    worker.awaitReady();
    frontend.awaitReady();
    Polling.until(
        "the model is listed",
        LIMIT,
        () -> frontend.get("/v1/models").body().contains('"' + Cluster.MODEL + '"'));
  }

  @AfterAll
  static void stop() {
    for (var part : new AutoCloseable[] {frontend, worker, etcd}) {
      closeQuietly(part);
    }
  }

  private static void closeQuietly(AutoCloseable part) {
    try {
      if (part != null) {
        part.close();
      }
    } catch (Exception failed) {
      throw new AssertionError(failed);
    }
  }

  private static ServerProcess.Plan server(String name, String role) {
    return ServerProcess.Plan.named(name)
        .with("DYN_DISCOVERY_BACKEND", "etcd")
        .with("ETCD_ENDPOINTS", etcd.endpoint())
        .with("ETCD_LEASE_TTL", "3")
        .with("DYNAMO_WORKER_MODEL_PATH", PeerProcess.model().toString())
        .with("DYNAMO_WORKER_TOKEN_INTERVAL", "10ms")
        .jvm("-Ddynamo.role=" + role);
  }

  private static Map<String, String> peerEnvironment() {
    return Map.of("DYN_DISCOVERY_BACKEND", "etcd", "ETCD_ENDPOINTS", etcd.endpoint());
  }

  /** The instances of workers. */
  private static List<String> instances() {
    return etcd.keys(INSTANCES);
  }

  @Test
  void streamsOutliveTheLossOfTheLeaseAndTheWorkerIsFoundAgain() throws Exception {
    var key = instances().getFirst();
    long lease = Long.parseUnsignedLong(key.substring(INSTANCES.length()), 16);
    try (var crowd = Crowd.ask(frontend, 0, 4, 300)) {
      crowd.awaitFlowing();
      etcd.revoke(lease);
      Polling.until("it is registered again", LIMIT, () -> instances().equals(List.of(key)));
      crowd.endsAs(OracleText.ofShippedModel(), 300);
    }
    try (var later = Crowd.ask(frontend, 10, 4, 10)) {
      later.endsAs(OracleText.ofShippedModel(), 10);
    }
  }

  @Test
  void registrationsPassTheCircuitBreaker() throws Exception {
    assertThat(
            ServerFacts.metric(
                worker, "ft_circuitbreaker_calls_total", "circuitBreakerResult=\"success\""))
        .isPositive();
  }

  @Test
  void thresholdsThatAreSetAtAFrontendAreSharedInEtcd() throws Exception {
    var change =
        "{\"model\":\"%s\",\"active_prefill_tokens_threshold\":1000000}".formatted(Cluster.MODEL);
    var set = frontend.post("/busy_threshold", change);
    assertThat(set.statusCode()).as(set.body()).isEqualTo(200);
    assertThat(frontend.get("/busy_threshold").body()).contains("1000000");
    assertThat(etcd.keys("v1/busy_thresholds/"))
        .singleElement()
        .asString()
        .endsWith("/aggregated/" + Cluster.MODEL);
  }

  @Test
  void knownWorkersServeWhileEtcdIsDead() throws Exception {
    etcd.kill();
    try (var crowd = Crowd.ask(frontend, 20, 4, 10)) {
      crowd.endsAs(OracleText.ofShippedModel(), 10);
    } finally {
      etcd.startAgain();
    }
    try (var crowd = Crowd.ask(frontend, 30, 4, 10)) {
      crowd.endsAs(OracleText.ofShippedModel(), 10);
    }
  }

  @Test
  void ourFrontendServesDynamosMocker() throws Exception {
    try (var mocker =
        PeerProcess.mocker(
            "etcd-mocker",
            folder,
            peerEnvironment(),
            "--block-size",
            "16",
            "--max-model-len",
            "4096")) {
      Polling.until("the mocker is registered", LIMIT, () -> instances().size() == 2);
      Polling.until(
          "the mocker serves",
          LIMIT,
          () -> {
            try (var crowd = Crowd.ask(frontend, 100, 8, 4)) {
              crowd.unbroken();
            }
            return mocker.metric("dynamo_component_requests_total", ServerFacts.GENERATE) > 0;
          });
      mocker.terminate();
      Polling.until("the mocker is gone", LIMIT, () -> instances().size() == 1);
    }
  }

  @Test
  void dynamosFrontendServesOurWorker() throws Exception {
    try (var peer = PeerProcess.frontend("etcd-peer-frontend", folder, peerEnvironment())) {
      Polling.until("the model is listed", LIMIT, () -> peer.lists(Cluster.MODEL));
      try (var crowd = Crowd.ask(peer.port(), 200, 4, 20)) {
        crowd.endsAs(OracleText.ofShippedModel(), 20);
      }
    }
  }
}
