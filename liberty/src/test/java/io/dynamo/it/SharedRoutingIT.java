package io.dynamo.it;

import static org.assertj.core.api.Assertions.assertThat;

import com.fasterxml.jackson.databind.JsonNode;
import com.fasterxml.jackson.databind.ObjectMapper;
import java.net.URI;
import java.net.http.HttpClient;
import java.net.http.HttpRequest;
import java.net.http.HttpResponse;
import java.nio.file.Path;
import java.time.Duration;
import java.util.ArrayList;
import java.util.HashSet;
import java.util.List;
import java.util.Map;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

/**
 * Our frontend and Dynamo's route to the same two mockers and tell each other what they know: whose
 * session is where, and what is cached.
 */
@ManyServers
@Sampled
class SharedRoutingIT {
  private static final Duration LIMIT = Duration.ofSeconds(60);
  private static final int SESSIONS = 6;
  private static final ObjectMapper JSON = new ObjectMapper();

  @TempDir Path store;

  private final HttpClient http =
      HttpClient.newBuilder().connectTimeout(Duration.ofSeconds(5)).build();
  private int asked;

  @AfterEach
  void close() {
    http.close();
  }

  private ServerProcess ours(String name, Map<String, String> routing) {
    var plan =
        ServerProcess.Plan.named(name)
            .with("DYN_DISCOVERY_BACKEND", "file")
            .with("DYN_FILE_KV", store.toString())
            .with("DYN_ROUTER_MODE", "kv")
            .jvm("-Ddynamo.role=frontend");
    for (var setting : routing.entrySet()) {
      plan = plan.with(setting.getKey(), setting.getValue());
    }
    return plan.start();
  }

  /** A prompt of several blocks; equal numbers make equal prompts. */
  private static String prompt(int number) {
    return ("story " + number + " of a long night ").repeat(40);
  }

  private JsonNode ask(int port, String prompt, String session) throws Exception {
    var body =
        JSON.writeValueAsString(
            Map.of(
                "model",
                Cluster.MODEL,
                "messages",
                List.of(Map.of("role", "user", "content", prompt)),
                "max_tokens",
                2,
                "nvext",
                Map.of("extra_fields", List.of("worker_id"))));
    var request =
        HttpRequest.newBuilder(URI.create("http://127.0.0.1:" + port + "/v1/chat/completions"))
            .timeout(Duration.ofSeconds(30))
            .header("Content-Type", "application/json")
            .POST(HttpRequest.BodyPublishers.ofString(body));
    if (!session.isEmpty()) {
      request.header("X-Dynamo-Session-ID", session);
    }
    var answer = http.send(request.build(), HttpResponse.BodyHandlers.ofString());
    assertThat(answer.statusCode()).as(answer.body()).isEqualTo(200);
    return JSON.readTree(answer.body());
  }

  /** The worker that a request of {@code session} went to. */
  private String worker(int port, String prompt, String session) throws Exception {
    var worker = ask(port, prompt, session).at("/nvext/worker_id/decode_worker_id");
    assertThat(worker.isNumber()).as("%s", worker).isTrue();
    return worker.bigIntegerValue().toString();
  }

  /**
   * Binds fresh sessions at {@code first}; whether each of them stays when {@code second} goes on.
   */
  private boolean follows(int second, int first) throws Exception {
    var bound = new ArrayList<String>();
    int from = asked;
    for (int i = 0; i < SESSIONS; i++) {
      bound.add(worker(first, prompt(asked), "s" + asked++));
    }
    boolean all = true;
    for (int i = 0; i < SESSIONS; i++) {
      all &= worker(second, prompt(-1), "s" + (from + i)).equals(bound.get(i));
    }
    return all && new HashSet<>(bound).size() == 2;
  }

  private static boolean lists(ServerProcess ours) throws Exception {
    return ours.get("/v1/models").body().contains('"' + Cluster.MODEL + '"');
  }

  private static long workers(ServerProcess ours) throws Exception {
    return JSON.readTree(ours.get("/router/explain?limit=1").body())
        .at("/decisions/0/total_candidates")
        .asLong();
  }

  @Test
  void sessionsBoundByOneAreHonouredByTheOtherAndOurIndexAnswers() throws Exception {
    var affinity =
        Map.of("DYN_ROUTER_SESSION_AFFINITY_TTL_SECS", "120", "DYN_SERVE_INDEXER", "true");
    try (var one = PeerProcess.mocker("shared-mocker-1", store);
        var two = PeerProcess.mocker("shared-mocker-2", store);
        var ours = ours("shared-ours", affinity);
        var theirs =
            PeerProcess.frontend(
                "shared-theirs",
                store,
                "--router-mode",
                "kv",
                "--router-replica-sync",
                "--router-session-affinity-ttl-secs",
                "120",
                "--use-remote-indexer")) {
      assertThat(List.of(one, two)).hasSize(2);
      ours.awaitReady();
      awaitBoth(ours, theirs);

      Polling.until(
          "we follow Dynamo's sessions", LIMIT, () -> follows(ours.port(), theirs.port()));
      Polling.until("Dynamo follows ours", LIMIT, () -> follows(theirs.port(), ours.port()));

      assertThat(theirs.metric("dynamo_component_router_remote_indexer_query_failures_total"))
          .as("our index answered each of its questions")
          .isZero();
      var home = worker(ours.port(), prompt(-2), "");
      Polling.until(
          "the next one finds what the first has left",
          LIMIT,
          () -> worker(theirs.port(), prompt(-2), "").equals(home));
      assertThat(theirs.console()).containsPattern("overlap_blocks=[1-9]");
    }
  }

  @Test
  void weAskDynamosIndex() throws Exception {
    try (var one = PeerProcess.mocker("asked-mocker-1", store);
        var two = PeerProcess.mocker("asked-mocker-2", store);
        var theirs =
            PeerProcess.frontend("asked-theirs", store, "--router-mode", "kv", "--serve-indexer");
        var ours = ours("asked-ours", Map.of("DYN_USE_REMOTE_INDEXER", "true"))) {
      assertThat(List.of(one, two)).hasSize(2);
      ours.awaitReady();
      awaitBoth(ours, theirs);
      var home = worker(theirs.port(), prompt(-3), "");
      Polling.until(
          "its answer counts",
          LIMIT,
          () -> {
            assertThat(worker(ours.port(), prompt(-3), "")).isNotEmpty();
            var decision =
                JSON.readTree(ours.get("/router/explain?limit=1").body()).at("/decisions/0");
            for (var candidate : decision.path("candidates")) {
              if (candidate.path("overlap_blocks").path("device").asInt() > 0
                  && candidate.path("worker_id").bigIntegerValue().toString().equals(home)) {
                return true;
              }
            }
            return false;
          });
    }
  }

  private void awaitBoth(ServerProcess ours, PeerProcess theirs) {
    Polling.until("both list the model", LIMIT, () -> lists(ours) && theirs.lists(Cluster.MODEL));
    Polling.until(
        "both mockers are candidates",
        LIMIT,
        () -> {
          assertThat(ask(ours.port(), prompt(-4), "")).isNotNull();
          return workers(ours) == 2;
        });
  }
}
