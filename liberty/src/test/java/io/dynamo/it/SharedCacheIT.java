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
import java.util.Arrays;
import java.util.Map;
import java.util.Random;
import java.util.regex.Pattern;
import java.util.stream.IntStream;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

/**
 * Our frontend and Dynamo's hear the same publisher in place of Mooncake's master, for the same
 * worker: both find the same blocks of a prompt in what workers share, and count the same cost.
 */
@Sampled
class SharedCacheIT {
  private static final Duration LIMIT = Duration.ofSeconds(60);
  private static final ObjectMapper JSON = new ObjectMapper();
  private static final String MODEL = "shared-cache";
  private static final int PAGES = 5;
  private static final int OBJECTS = 4; // of each page
  private static final int STEPS = 40;
  private static final int[] PROMPT =
      IntStream.range(0, PAGES * 16 + 7).map(i -> 10 + i * 7 % 200).toArray();
  private static final Pattern COST = Pattern.compile("Selected worker.* logit=([0-9.eE+-]+)");

  @TempDir Path store;

  private final HttpClient http =
      HttpClient.newBuilder().connectTimeout(Duration.ofSeconds(5)).build();
  private final boolean[][] there = new boolean[PAGES][OBJECTS];
  private boolean missed;

  @AfterEach
  void close() {
    http.close();
  }

  private void ask(int port) throws Exception {
    var body = JSON.writeValueAsString(Map.of("model", MODEL, "prompt", PROMPT, "max_tokens", 1));
    var request =
        HttpRequest.newBuilder(URI.create("http://127.0.0.1:" + port + "/v1/completions"))
            .timeout(Duration.ofSeconds(30))
            .header("Content-Type", "application/json")
            .POST(HttpRequest.BodyPublishers.ofString(body));
    var answer = http.send(request.build(), HttpResponse.BodyHandlers.ofString());
    assertThat(answer.statusCode()).as(answer.body()).isEqualTo(200);
  }

  private JsonNode oursOf(ServerProcess ours) throws Exception {
    ask(ours.port());
    return JSON.readTree(ours.get("/router/explain?limit=1").body())
        .at("/decisions/0/candidates/0");
  }

  private static long found(JsonNode candidate) {
    return candidate.at("/overlap_blocks/shared").asLong(-1);
  }

  /** How many blocks theirs finds now. */
  private long theirsFinds(PeerProcess theirs) throws Exception {
    var blocks = "dynamo_component_router_shared_cache_beyond_blocks";
    long asked = theirs.metric(blocks + "_count");
    long before = theirs.metric(blocks + "_sum");
    ask(theirs.port());
    Polling.until("it is measured", LIMIT, () -> theirs.metric(blocks + "_count") > asked);
    return theirs.metric(blocks + "_sum") - before;
  }

  private static double costOf(PeerProcess theirs) {
    return COST.matcher(theirs.console())
        .results()
        .mapToDouble(found -> Double.parseDouble(found.group(1)))
        .reduce((_, last) -> last)
        .orElseThrow();
  }

  private static boolean lists(ServerProcess ours) throws Exception {
    return ours.get("/v1/models").body().contains('"' + MODEL + '"');
  }

  private void tell(PeerProcess worker, String kind, int page, int object) throws Exception {
    worker.tell(kind + " " + page + (object == OBJECTS ? "" : " " + object));
    if (missed) {
      missed = false;
      for (var objects : there) {
        Arrays.fill(objects, false);
      }
    }
    for (int i = 0; i < OBJECTS; i++) {
      if (object == OBJECTS || object == i) {
        there[page][i] = kind.equals("stored");
      }
    }
  }

  private long complete() {
    return IntStream.range(0, PAGES)
        .filter(page -> IntStream.range(0, OBJECTS).allMatch(i -> there[page][i]))
        .count();
  }

  @Test
  void bothFindTheSameBlocksOfAPromptAndCountTheSameCost() throws Exception {
    int port = ServerProcess.freePort();
    try (var worker =
            PeerProcess.script(
                "hicache-worker",
                store,
                "hicache_worker.py",
                PeerProcess.model().toString(),
                MODEL,
                Integer.toString(port),
                JSON.writeValueAsString(PROMPT));
        var ours =
            ServerProcess.Plan.named("hicache-ours")
                .with("DYN_DISCOVERY_BACKEND", "file")
                .with("DYN_FILE_KV", store.toString())
                .with("DYN_ROUTER_MODE", "kv")
                .with("DYN_SHARED_CACHE_TYPE", "hicache")
                .with("JVM_ARGS", "-Xmx512m -Ddynamo.role=frontend")
                .start();
        var theirs =
            PeerProcess.frontend(
                "hicache-theirs", store, "--router-mode", "kv", "--shared-cache-type", "hicache")) {
      ours.awaitReady();
      Polling.until("both list the model", LIMIT, () -> lists(ours) && theirs.lists(MODEL));
      Polling.until(
          "both hear the publisher",
          LIMIT,
          Duration.ofMillis(200),
          () -> {
            tell(worker, "stored", 0, OBJECTS);
            return found(oursOf(ours)) == 1 && theirsFinds(theirs) == 1;
          });

      var random = new Random(7);
      for (int step = 0; step < STEPS; step++) {
        if (random.nextInt(10) == 0) {
          worker.tell("miss");
          missed = true;
        }
        int object = random.nextInt(3) == 0 ? random.nextInt(OBJECTS) : OBJECTS;
        tell(worker, random.nextInt(3) == 0 ? "removed" : "stored", random.nextInt(PAGES), object);
        var what = "step " + step + ", " + complete() + " pages";
        Polling.until("Dynamo, " + what, LIMIT, () -> theirsFinds(theirs) == complete());
        Polling.until("ours, " + what, LIMIT, () -> found(oursOf(ours)) == complete());
        var candidate = oursOf(ours);
        assertThat(candidate.path("terms").path("shared").doubleValue())
            .as(what)
            .isEqualTo(0.5 * complete());
        assertThat(candidate.path("cost").doubleValue()).as(what).isEqualTo(costOf(theirs));
      }
    }
  }
}
