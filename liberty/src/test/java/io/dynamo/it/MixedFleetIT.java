package io.dynamo.it;

import static org.assertj.core.api.Assertions.assertThat;

import java.io.IOException;
import java.nio.file.Path;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.concurrent.ExecutorService;
import java.util.concurrent.Executors;
import java.util.concurrent.Future;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.atomic.AtomicBoolean;
import java.util.concurrent.atomic.AtomicInteger;
import org.jspecify.annotations.Nullable;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

/**
 * Both kinds of worker behind both kinds of frontend at once; Dynamo's workers are replaced by ours
 * one by one, under load.
 */
@ManyServers
@Sampled
class MixedFleetIT {
  private static final Duration LIMIT = Duration.ofSeconds(60);
  private static final int CLIENTS = 6; // of each frontend
  private static final int TOKENS = 30;

  @TempDir Path store;
  private final AtomicBoolean stopped = new AtomicBoolean();
  private final AtomicInteger answered = new AtomicInteger();

  private ServerProcess.Plan server(String name, String role) {
    return ServerProcess.Plan.named(name)
        .with("DYN_DISCOVERY_BACKEND", "file")
        .with("DYN_FILE_KV", store.toString())
        .with("DYNAMO_WORKER_MODEL_PATH", PeerProcess.model().toString())
        .with("DYNAMO_WORKER_TOKEN_INTERVAL", "10ms")
        .jvm("-Ddynamo.role=" + role);
  }

  /** Of the same shape as ours, as far as it enters the fleet's fingerprint. */
  private PeerProcess mocker(String name) throws IOException {
    return PeerProcess.plainMocker(name, store, "--block-size", "16", "--max-model-len", "4096");
  }

  @Test
  void theirWorkersAreReplacedByOursUnderLoadWithoutAFailedRequest() throws Exception {
    var oracle = OracleText.ofShippedModel();
    ExecutorService clients = Executors.newVirtualThreadPerTaskExecutor();
    var load = new ArrayList<Future<?>>();
    try (var first = mocker("mixed-mocker-1");
        var second = mocker("mixed-mocker-2");
        var ourFrontend = server("mixed-frontend", "frontend").start();
        var theirFrontend =
            PeerProcess.frontend("mixed-peer-frontend", store, "--migration-limit", "3")) {
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
    Discovered.await(store, count, LIMIT);
  }

  private static long served(ServerProcess worker) throws IOException, InterruptedException {
    return ServerFacts.metric(worker, "dynamo_component_requests_total", ServerFacts.GENERATE);
  }
}
