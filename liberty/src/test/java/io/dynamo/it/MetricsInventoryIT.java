package io.dynamo.it;

import static org.assertj.core.api.Assertions.assertThat;

import com.fasterxml.jackson.databind.JsonNode;
import com.fasterxml.jackson.databind.ObjectMapper;
import java.io.IOException;
import java.net.URI;
import java.net.http.HttpClient;
import java.net.http.HttpRequest;
import java.net.http.HttpResponse;
import java.nio.file.Files;
import java.nio.file.Path;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import java.util.Objects;
import java.util.Set;
import java.util.TreeMap;
import java.util.TreeSet;
import java.util.regex.Pattern;
import org.junit.jupiter.api.Test;

/**
 * A server's exact exposition beside the list that was captured from Dynamo's frontend: each family
 * is there with its type, labels and buckets, or the documentation says why not; and what requests
 * should move, they move. Of the router's families only that the page knows each: the router's own
 * tests compare them.
 */
class MetricsInventoryIT {
  private static final Path PAGE = Path.of("..", "docs", "health-and-metrics.md");
  private static final Pattern SAMPLE =
      Pattern.compile("([a-zA-Z_:][a-zA-Z0-9_:]*)(?:\\{(.*)})? (\\S+)");
  private static final Pattern LABEL = Pattern.compile("([a-zA-Z_]\\w*)=\"([^\"]*)\"");

  /** Families that are not there, by how their names begin; each is a row of the page. */
  private static final List<String> ABSENT =
      List.of(
          "dynamo_tokio_",
          "dynamo_frontend_event_loop_",
          "dynamo_frontend_audio_per_request",
          "dynamo_frontend_image",
          "dynamo_frontend_videos_per_request",
          "dynamo_transport_tcp_accept_backoff_total");

  /** The router's families. */
  private static final Pattern ROUTERS =
      Pattern.compile(
          "dynamo_(router_|component_router_|component_kv_cache_|component_ckf_|frontend_router_).*");

  /** Families with labels of our own; each is a row of the page. */
  private static final Map<String, Set<String>> OTHER_LABELS =
      Map.of(
          "dynamo_frontend_tokenizer_cache_cached_tokens_total", Set.of(),
          "dynamo_frontend_tokenizer_cache_uncached_tokens_total", Set.of());

  /** Metrics that a few requests of one client to one worker do not move. */
  private static final Set<String> STILL = Set.of("dynamo_transport_tcp_errors_total");

  private record Family(
      String type, Set<String> labels, List<String> buckets, Map<String, Double> values) {
    double moves() {
      return values.entrySet().stream()
          .filter(it -> !it.getKey().contains("_bucket") && !it.getKey().contains("_sum"))
          .mapToDouble(Map.Entry::getValue)
          .sum();
    }
  }

  private static Map<String, Family> families(String text) {
    var families = new TreeMap<String, Family>();
    Family current = new Family("", Set.of(), List.of(), Map.of());
    for (var line : text.lines().toList()) {
      if (line.startsWith("# TYPE ")) {
        var parts = line.split(" ", 4);
        current = new Family(parts[3], new TreeSet<>(), new ArrayList<>(), new TreeMap<>());
        families.put(parts[2], current);
      } else if (!line.startsWith("#")) {
        take(line, current);
      }
    }
    return families;
  }

  private static void take(String line, Family family) {
    var sample = SAMPLE.matcher(line);
    assertThat(sample.matches()).as(line).isTrue();
    var labels = Objects.requireNonNullElse(sample.group(2), "");
    family.values.put(
        sample.group(1) + "{" + labels, Double.valueOf(sample.group(3).replace("Inf", "Infinity")));
    var label = LABEL.matcher(labels);
    while (label.find()) {
      if (!label.group(1).equals("le")) {
        family.labels.add(label.group(1));
      } else if (!family.buckets.contains(label.group(2))) {
        family.buckets.add(label.group(2));
      }
    }
  }

  private static JsonNode inventory() throws IOException {
    try (var in = MetricsInventoryIT.class.getResourceAsStream("metrics-inventory.json")) {
      return new ObjectMapper().readTree(in).get("families");
    }
  }

  private static HttpResponse<String> exposition(int port) throws Exception {
    try (var http = HttpClient.newHttpClient()) {
      var request =
          HttpRequest.newBuilder(URI.create("http://127.0.0.1:" + port + "/metrics"))
              .timeout(Duration.ofSeconds(20))
              .build();
      return http.send(request, HttpResponse.BodyHandlers.ofString());
    }
  }

  @Test
  void everyFamilyOfDynamosFrontendIsThereAndMovesOrThePageSaysWhyNot() throws Exception {
    int status = ServerProcess.freePort();
    try (var server =
        ServerProcess.Plan.named("inventory")
            .with("DYN_SYSTEM_PORT", Integer.toString(status))
            .with("DYNAMO_FRONTEND_MAX_CONCURRENT_REQUESTS", "1")
            .with("DYNAMO_WORKER_TOKEN_INTERVAL", "20ms")
            .start()
            .awaitReady()) {
      chat(server, "x".repeat(600), 4, true); // long enough for the prefix cache
      awaitNobody(status);
      var before = families(exposition(status).body());

      whileOneStreamsAnotherIsRefusedAndThenItsClientLeaves(server, status);
      theWorkersGaugesTellOfItsLastAnswer(families(exposition(status).body()));
      chat(server, "x".repeat(600), 4, true);
      awaitNobody(status);
      chat(server, "y".repeat(600), 8, false);
      assertThat(server.get("/nope").statusCode()).isEqualTo(404);

      Polling.untilAsserted(
          Duration.ofSeconds(20), () -> compare(before, families(exposition(status).body())));
      assertThat(exposition(status).headers().firstValue("content-type"))
          .hasValueSatisfying(type -> assertThat(type).contains("version=0.0.4"));
    }
  }

  private static void chat(ServerProcess server, String prompt, int tokens, boolean streams)
      throws Exception {
    var body = ChatClient.body(Cluster.MODEL, prompt, tokens, streams);
    try (var client = ChatClient.post(server.port(), body)) {
      assertThat(client.status()).isEqualTo(200);
      if (streams) {
        assertThat(client.text()).isNotEmpty();
      }
    }
  }

  /** Only one is let in at a time. */
  private static void awaitNobody(int status) {
    Polling.untilAsserted(
        Duration.ofSeconds(20),
        () ->
            assertThat(
                    family(families(exposition(status).body()), "dynamo_frontend_inflight_requests")
                        .moves())
                .isZero());
  }

  private static void whileOneStreamsAnotherIsRefusedAndThenItsClientLeaves(
      ServerProcess server, int status) throws Exception {
    var endless = ChatClient.body(Cluster.MODEL, "Go on. ".repeat(50), 2000, true);
    try (var client = ChatClient.post(server.port(), endless)) {
      Polling.untilAsserted(
          Duration.ofSeconds(20),
          () -> {
            var now = families(exposition(status).body());
            for (var gauge :
                List.of(
                    "dynamo_frontend_inflight_requests",
                    "dynamo_frontend_active_requests",
                    "dynamo_request_plane_inflight_requests",
                    "dynamo_frontend_model_ready")) {
              assertThat(family(now, gauge).moves()).as(gauge).isEqualTo(1);
            }
            assertThat(family(now, "dynamo_frontend_worker_active_decode_blocks").moves())
                .isPositive();
          });
      try (var refused =
          ChatClient.post(server.port(), ChatClient.body(Cluster.MODEL, "Me too", 1, false))) {
        assertThat(refused.status()).isBetween(400, 599);
      }
      client.hangUp();
    }
    awaitNobody(status);
  }

  private static void theWorkersGaugesTellOfItsLastAnswer(Map<String, Family> now) {
    for (var gauge :
        List.of(
            "time_to_first_token_seconds",
            "input_sequence_tokens",
            "inter_token_latency_seconds")) {
      var name = "dynamo_frontend_worker_last_" + gauge;
      assertThat(family(now, name).moves()).as(name).isPositive();
    }
  }

  private static Family family(Map<String, Family> families, String name) {
    return Objects.requireNonNull(families.get(name), name);
  }

  private static void compare(Map<String, Family> before, Map<String, Family> now)
      throws Exception {
    var page = Files.readString(PAGE);
    for (var captured : inventory().properties()) {
      var name = captured.getKey();
      if (ROUTERS.matcher(name).matches()) {
        assertThat(documented(page, name)).as("the page tells of %s", name).isTrue();
        continue;
      }
      var here = now.get(name);
      var absent = ABSENT.stream().filter(name::startsWith).findFirst();
      if (absent.isPresent()) {
        assertThat(here).as("%s is said to be absent", name).isNull();
        assertThat(documented(page, name)).as("the page says why there is no %s", name).isTrue();
        continue;
      }
      assertThat(here).as(name).isNotNull();
      isAsCaptured(name, captured.getValue(), Objects.requireNonNull(here));
      if (!captured.getValue().get("type").asText().equals("gauge") && !STILL.contains(name)) {
        var earlier = before.get(name);
        assertThat(here.moves())
            .as("%s moves", name)
            .isGreaterThan(earlier == null ? 0 : earlier.moves());
      }
    }
  }

  private static void isAsCaptured(String name, JsonNode captured, Family here) {
    assertThat(here.type).as("type of %s", name).isEqualTo(captured.get("type").asText());
    var labels = new TreeSet<String>();
    captured.get("labels").forEach(label -> labels.add(label.asText()));
    assertThat(here.labels)
        .as("labels of %s", name)
        .isEqualTo(OTHER_LABELS.containsKey(name) ? OTHER_LABELS.get(name) : labels);
    var buckets = new ArrayList<String>();
    captured.path("le").forEach(bound -> buckets.add(bound.asText()));
    assertThat(here.buckets).as("buckets of %s", name).isEqualTo(buckets);
  }

  /** Whether a name stands on the page, with braces and stars as a shell has them. */
  private static boolean documented(String page, String name) {
    var names = Pattern.compile("`([a-zA-Z_{},*]+)`").matcher(page);
    while (names.find()) {
      var pattern =
          names.group(1).replace("{", "(").replace("}", ")").replace(",", "|").replace("*", ".*");
      if (names.group(1).startsWith("dynamo_") && name.matches(pattern)) {
        return true;
      }
    }
    return false;
  }
}
