package io.dynamo.it;

import static org.assertj.core.api.Assertions.assertThat;

import java.io.IOException;
import java.nio.file.Path;
import java.time.Duration;
import java.util.regex.Pattern;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

/** Our frontend drives Dynamo's own mocker: file discovery, TCP request plane, ZMQ events. */
class DynamoMockerIT {
  private static final Duration LIMIT = Duration.ofSeconds(30);

  @TempDir Path store;

  private ServerProcess frontend(String name) {
    return ServerProcess.Plan.named(name)
        .with("DYN_DISCOVERY_BACKEND", "file")
        .with("DYN_FILE_KV", store.toString())
        .with("JVM_ARGS", "-Xmx512m -Ddynamo.role=frontend")
        .start();
  }

  private static void awaitListed(ServerProcess frontend, boolean listed) {
    Polling.until(
        "the model is " + (listed ? "listed" : "gone"),
        LIMIT,
        () -> frontend.get("/v1/models").body().contains('"' + Cluster.MODEL + '"') == listed);
  }

  /** A counter or gauge of a mocker's status server, all series added. */
  private static long metric(PeerProcess mocker, String name)
      throws IOException, InterruptedException {
    return Pattern.compile("(?m)^" + Pattern.quote(name) + "(\\{[^}]*})? ([0-9.Ee+]+)$")
        .matcher(mocker.get("/metrics").body())
        .results()
        .mapToLong(series -> Math.round(Double.parseDouble(series.group(2))))
        .sum();
  }

  @Test
  void theMockerIsFoundAnswersIsCancelledAndVanishes() throws Exception {
    try (var frontend = frontend("peer-mocker-frontend");
        var mocker = PeerProcess.mocker("mocker", store, "--speedup-ratio", "1")) {
      frontend.awaitReady();
      awaitListed(frontend, true);

      for (var stream : new boolean[] {true, false}) {
        int tokens = 30;
        var body = ChatClient.body(Cluster.MODEL, "Tell me a story", tokens, stream);
        try (var client = ChatClient.post(frontend.port(), body)) {
          if (stream) {
            assertThat(client.text()).isNotBlank();
          } else {
            var answer = client.json();
            assertThat(answer.at("/choices/0/message/content").textValue()).isNotBlank();
            assertThat(answer.at("/choices/0/finish_reason").textValue()).isEqualTo("length");
            assertThat(answer.at("/usage/completion_tokens").intValue()).isEqualTo(tokens);
          }
        }
      }
      aClientThatHangsUpIsACancelAtTheMocker(frontend, mocker);

      mocker.terminate();
      awaitListed(frontend, false);
    }
  }

  private static void aClientThatHangsUpIsACancelAtTheMocker(
      ServerProcess frontend, PeerProcess mocker) throws Exception {
    var cancellations = "dynamo_component_cancellation_total";
    long before = metric(mocker, cancellations);
    var body = ChatClient.body(Cluster.MODEL, "Never mind", 3000, true);
    try (var client = ChatClient.post(frontend.port(), body)) {
      for (var event = client.next(); event != null; event = client.next()) {
        if (!event.text().isEmpty()) {
          break;
        }
      }
      assertThat(metric(mocker, "dynamo_component_inflight_requests")).isEqualTo(1);
      client.hangUp();
    }
    Polling.until(
        "the mocker has given it up",
        LIMIT,
        () ->
            metric(mocker, cancellations) == before + 1
                && metric(mocker, "dynamo_component_inflight_requests") == 0);
  }

  @Test
  void streamsOfAKilledOrTerminatedMockerGoOnElsewhere() throws Exception {
    int streams = 32;
    int tokens = 200;
    try (var frontend = frontend("peer-mockers-frontend");
        var killed = PeerProcess.mocker("mocker-killed", store);
        var drained = PeerProcess.mocker("mocker-drained", store)) {
      frontend.awaitReady();
      awaitListed(frontend, true);
      Polling.until("both serve", LIMIT, () -> bothServe(frontend, killed, drained));
      try (var crowd = Crowd.ask(frontend, 0, streams, tokens)) {
        crowd.awaitFlowing();
        long moving = metric(killed, "dynamo_component_inflight_requests");
        assertThat(moving).as("streams of the mocker to be killed").isPositive();
        killed.kill();
        assertThat(crowd.outcomes()).allSatisfy(outcome -> assertThat(outcome.error()).isNull());
        ServerFacts.awaitMetric(
            frontend,
            "dynamo_frontend_model_migration_total",
            "migration_type=\"ongoing_request\"",
            moving);
      }
      try (var third = PeerProcess.mocker("mocker-third", store)) {
        Polling.until("both serve", LIMIT, () -> bothServe(frontend, drained, third));
        try (var crowd = Crowd.ask(frontend, streams, streams, tokens)) {
          crowd.awaitFlowing();
          drained.terminate();
          try (var later = Crowd.ask(frontend, 2 * streams, streams, 20)) {
            assertThat(later.outcomes())
                .allSatisfy(outcome -> assertThat(outcome.error()).isNull());
          }
          assertThat(crowd.outcomes()).allSatisfy(outcome -> assertThat(outcome.error()).isNull());
        }
      }
      ServerFacts.awaitMetric(frontend, "dynamo_frontend_inflight_requests", "", 0);
      ServerFacts.awaitMetric(frontend, "dynamo_frontend_requests_total", "status=\"error\"", 0);
    }
  }

  private static boolean bothServe(ServerProcess frontend, PeerProcess one, PeerProcess other)
      throws Exception {
    try (var crowd = Crowd.ask(frontend, 1000, 8, 2)) {
      crowd.outcomes();
    }
    var requests = "dynamo_component_requests_total";
    return metric(one, requests) > 0 && metric(other, requests) > 0;
  }
}
