package io.dynamo.it;

import static org.assertj.core.api.Assertions.assertThat;

import java.io.IOException;
import java.nio.file.Path;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import java.util.concurrent.ExecutorService;
import java.util.concurrent.Executors;
import java.util.concurrent.Future;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.atomic.AtomicBoolean;
import java.util.concurrent.atomic.AtomicInteger;
import org.jspecify.annotations.Nullable;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.io.TempDir;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.MethodSource;

/**
 * Both kinds of worker behind both kinds of frontend at once, found through a folder and asked over
 * TCP, or all over etcd and NATS; Dynamo's workers are replaced by ours one by one, under load.
 */
@ManyServers
@Sampled
class MixedFleetIT {
  private static final Duration LIMIT = Duration.ofSeconds(60);
  private static final int CLIENTS = 6; // of each frontend
  private static final int TOKENS = 30;

  @TempDir Path store;

  @SuppressWarnings("NullAway.Init") // with the cell
  private PlaneCell cell;

  private @Nullable EtcdProcess etcd;
  private @Nullable NatsProcess nats;
  private final AtomicBoolean stopped = new AtomicBoolean();
  private final AtomicInteger answered = new AtomicInteger();

  @AfterEach
  void stop() {
    if (nats != null) {
      nats.close();
    }
    if (etcd != null) {
      etcd.close();
    }
  }

  private Map<String, String> environment() {
    return cell.environment(
        new PlaneCell.Servers(etcd == null ? "" : etcd.endpoint(), nats == null ? "" : nats.url()));
  }

  private ServerProcess.Plan server(String name, String role) {
    var plan = ServerProcess.Plan.named("%s-%s".formatted(name, cell));
    for (var variable : environment().entrySet()) {
      plan = plan.with(variable.getKey(), variable.getValue());
    }
    return plan.with("DYN_FILE_KV", store.toString())
        .with("DYNAMO_WORKER_MODEL_PATH", PeerProcess.model().toString())
        .with("DYNAMO_WORKER_TOKEN_INTERVAL", "10ms")
        .jvm("-Ddynamo.role=" + role);
  }

  /** Of the same shape as ours, as far as it enters the fleet's fingerprint. */
  private PeerProcess mocker(String name) throws IOException {
    return PeerProcess.plainMocker(
        "%s-%s".formatted(name, cell),
        store,
        environment(),
        "--block-size",
        "16",
        "--max-model-len",
        "4096");
  }

  static List<PlaneCell> cells() {
    return List.of(new PlaneCell("file", "tcp", "zmq"), new PlaneCell("etcd", "nats", "nats"));
  }

  @ParameterizedTest(name = "{0}")
  @MethodSource("cells")
  void theirWorkersAreReplacedByOursUnderLoadWithoutAFailedRequest(PlaneCell planes)
      throws Exception {
    cell = planes;
    if (cell.discovery().equals("etcd")) {
      etcd = EtcdProcess.start(store);
      nats = NatsProcess.start("dynamo-mixed-nats");
    }
    var oracle = OracleText.ofShippedModel();
    ExecutorService clients = Executors.newVirtualThreadPerTaskExecutor();
    var load = new ArrayList<Future<?>>();
    try (var first = mocker("mixed-mocker-1");
        var second = mocker("mixed-mocker-2");
        var ourFrontend = server("mixed-frontend", "frontend").start();
        var theirFrontend =
            PeerProcess.frontend(
                "mixed-peer-frontend-" + cell, store, environment(), "--migration-limit", "3")) {
      ourFrontend.awaitReady();
      awaitInstances(2);
      Polling.until("the model is listed", LIMIT, () -> theirFrontend.lists(Cluster.MODEL));
      for (int i = 0; i < CLIENTS; i++) {
        int client = i;
        load.add(clients.submit(() -> asked(ourFrontend.port(), client)));
        load.add(clients.submit(() -> asked(theirFrontend.port(), CLIENTS + client)));
      }
      awaitMoreAnswers();

      try (var ourFirst = server("mixed-worker-1", "worker").start();
          var ourSecond = server("mixed-worker-2", "worker").start()) {
        ourFirst.awaitReady();
        ourSecond.awaitReady();
        awaitInstances(4);
        awaitMoreAnswers();
        first.terminate();
        awaitInstances(3);
        awaitMoreAnswers();
        second.terminate();
        awaitInstances(2);
        awaitMoreAnswers();

        stopped.set(true);
        for (var client : load) {
          client.get(LIMIT.toSeconds(), TimeUnit.SECONDS);
        }
        assertThat(served(ourFirst)).isPositive();
        assertThat(served(ourSecond)).isPositive();
        for (int port : List.of(ourFrontend.port(), theirFrontend.port())) {
          try (var crowd = Crowd.ask(port, 1000, 16, 50)) { // ours alone are left: known text
            crowd.endsAs(oracle, 50);
          }
        }
        ServerFacts.awaitMetric(
            ourFrontend, "dynamo_frontend_requests_total", "status=\"error\"", 0);
      }
    } finally {
      stopped.set(true);
      clients.shutdownNow();
    }
  }

  /** One stream after the other until the end; any that breaks fails the test. */
  private @Nullable Void asked(int port, int client) throws IOException {
    for (int i = 0; !stopped.get(); i++) {
      var body = ChatClient.body(Cluster.MODEL, client + " asks " + i, TOKENS, true);
      try (var stream = ChatClient.post(port, body)) {
        for (var event : stream.events()) {
          assertThat(String.valueOf(event.data())).doesNotStartWith("{\"error\"");
        }
      }
      answered.incrementAndGet();
    }
    return null;
  }

  private void awaitMoreAnswers() {
    int enough = answered.get() + 10 * CLIENTS;
    Polling.until("the load goes on", LIMIT, () -> answered.get() >= enough);
  }

  private void awaitInstances(int count) {
    var shared = etcd;
    if (shared == null) {
      Discovered.await(store, count, LIMIT);
    } else {
      Polling.until(count + " workers are registered", LIMIT, () -> registered(shared) == count);
    }
  }

  private static long registered(EtcdProcess etcd) {
    return etcd.keys("v1/instances/").stream().filter(key -> key.contains("generate")).count();
  }

  private static long served(ServerProcess worker) throws IOException, InterruptedException {
    return ServerFacts.metric(worker, "dynamo_component_requests_total", ServerFacts.GENERATE);
  }
}
