package io.dynamo.it;

import static org.assertj.core.api.Assertions.assertThat;

import java.io.IOException;
import java.nio.file.Path;
import java.time.Duration;
import org.junit.jupiter.api.AfterAll;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeAll;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

/** Our frontend before several sets of Dynamo's mockers that serve one model. */
@ManyServers
@Sampled
class WorkerSetsIT {
  private static final Duration LIMIT = Duration.ofSeconds(30);
  private static final String REQUESTS = "dynamo_component_requests_total";
  private static final String MIGRATIONS = "dynamo_frontend_model_migration_total";
  private static final String ONGOING = "migration_type=\"ongoing_request\"";
  private static final int STREAMS = 16;

  @TempDir static Path store;

  @SuppressWarnings("NullAway.Init") // before all
  private static ServerProcess frontend;

  private int prompts; // no two crowds have the same

  @BeforeAll
  static void start() {
    frontend =
        ServerProcess.Plan.named("worker-sets-frontend")
            .with("DYN_DISCOVERY_BACKEND", "file")
            .with("DYN_FILE_KV", store.toString())
            // for prompts that come again, which those of crowds do not; Dynamo's mockers tell
            // nobody what decode workers have cached
            .with("DYN_ROUTER_CONDITIONAL_DISAGG", "true")
            .with("DYN_ROUTER_PREDICTED_TTL_SECS", "120")
            .jvm("-Ddynamo.role=frontend")
            .start();
    Polling.until(
        "it answers", Duration.ofMinutes(4), () -> frontend.get("/v1/models").statusCode() == 200);
  }

  @AfterAll
  static void stop() {
    frontend.close();
  }

  /** The mockers of the test before may leave a lease to run out. */
  @AfterEach
  void mockersAreForgotten() {
    Polling.until("no worker is left", LIMIT, () -> readiness().isEmpty());
  }

  /** Empty while no worker is known. */
  private static String readiness() throws IOException, InterruptedException {
    var answer = frontend.get("/v1/models/" + Cluster.MODEL + "/ready");
    return answer.statusCode() == 200 ? answer.body() : "";
  }

  private static void awaitReadiness(String what, String part) {
    Polling.until(what, LIMIT, () -> readiness().contains(part));
  }

  private static void awaitListed() {
    Polling.until(
        "the model is listed",
        LIMIT,
        () -> frontend.get("/v1/models").body().contains('"' + Cluster.MODEL + '"'));
  }

  private static PeerProcess mocker(String name, String... arguments) throws IOException {
    return PeerProcess.mocker(name, store, arguments);
  }

  private static PeerProcess half(String name, String mode) throws IOException {
    return mocker(name, "--disaggregation-mode", mode);
  }

  private static long served(PeerProcess mocker) throws IOException, InterruptedException {
    return mocker.metric(REQUESTS, ServerFacts.GENERATE);
  }

  private Crowd ask(int tokens) {
    prompts += STREAMS;
    return Crowd.ask(frontend, prompts, STREAMS, tokens);
  }

  private void pairServes(PeerProcess prefill, PeerProcess decode) throws Exception {
    awaitListed();
    try (var crowd = ask(20)) {
      assertThat(crowd.unbroken()).allSatisfy(answer -> assertThat(answer.text()).isNotBlank());
    }
    assertThat(served(decode)).isEqualTo(STREAMS);
    assertThat(served(prefill)).as("prompts that the prefill worker computed").isEqualTo(STREAMS);
  }

  @Test
  void aPrefillWorkerMayComeBeforeItsDecodeWorker() throws Exception {
    try (var prefill = half("sets-prefill-first", "prefill")) {
      awaitReadiness("the prefill worker is known", "\"present\":[\"prefill\"]");
      assertThat(readiness()).contains("\"ready\":false").contains("\"decode\"");
      var body = ChatClient.body(Cluster.MODEL, "Too early", 2, false);
      try (var client = ChatClient.post(frontend.port(), body)) {
        assertThat(client.status()).isEqualTo(503);
      }
      try (var decode = half("sets-decode-second", "decode")) {
        pairServes(prefill, decode);
      }
    }
  }

  @Test
  void aDecodeWorkerMayComeBeforeItsPrefillWorker() throws Exception {
    try (var decode = half("sets-decode-first", "decode")) {
      awaitReadiness("the decode worker waits", "\"missing_worker_types\":[\"prefill\"]");
      assertThat(frontend.get("/v1/models").body()).doesNotContain('"' + Cluster.MODEL + '"');
      try (var prefill = half("sets-prefill-second", "prefill")) {
        pairServes(prefill, decode);
      }
    }
  }

  @Test
  void aPromptThatTheDecodeWorkerHasCachedIsComputedThere() throws Exception {
    try (var prefill = half("sets-prefill-cached", "prefill");
        var decode = half("sets-decode-cached", "decode")) {
      awaitListed();
      var body =
          ChatClient.body(Cluster.MODEL, "Tell this long story again. ".repeat(80), 2, false);
      for (int i = 0; i < 3; i++) {
        try (var client = ChatClient.post(frontend.port(), body)) {
          assertThat(client.json().path("usage").isObject()).isTrue();
        }
      }
      Polling.until("the decode worker served all", LIMIT, () -> served(decode) == 3);
      assertThat(served(prefill)).as("the first prompt alone").isEqualTo(1);
    }
  }

  @Test
  void promptsOfAKilledPrefillWorkerAreComputedByAnother() throws Exception {
    try (var decode = half("sets-decode", "decode");
        var one = half("sets-prefill-one", "prefill");
        var other = half("sets-prefill-other", "prefill")) {
      awaitListed();
      Polling.until(
          "both compute prompts",
          LIMIT,
          () -> {
            try (var crowd = ask(2)) {
              crowd.unbroken();
            }
            return served(one) > 0 && served(other) > 0;
          });
      try (var before = ask(100)) {
        one.kill();
        try (var later = ask(10)) { // its records are still there
          later.unbroken();
        }
        before.unbroken();
      }
      assertThat(served(decode)).isGreaterThanOrEqualTo(served(other));
    }
  }

  @Test
  void streamsOfOneNamespaceGoOnInTheOtherWhenItsWorkerIsKilled() throws Exception {
    long moved = ServerFacts.metric(frontend, MIGRATIONS, ONGOING);
    try (var old = mocker("sets-old");
        var next = mocker("sets-new", "--endpoint", "dyn://next.backend.generate")) {
      awaitListed();
      Polling.until(
          "both namespaces serve",
          LIMIT,
          () -> {
            try (var crowd = ask(2)) {
              crowd.unbroken();
            }
            return served(old) > 0 && served(next) > 0;
          });
      try (var crowd = ask(300)) {
        crowd.awaitFlowing();
        long moving = old.metric("dynamo_component_inflight_requests");
        assertThat(moving).as("streams of the worker to be killed").isBetween(1L, STREAMS - 1L);
        old.kill();
        try (var later = ask(10)) { // its records are still there
          later.unbroken();
        }
        crowd.unbroken();
        assertThat(ServerFacts.metric(frontend, MIGRATIONS, ONGOING))
            .isGreaterThanOrEqualTo(moved + moving);
      }
    }
  }
}
