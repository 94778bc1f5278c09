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
import java.util.Arrays;
import java.util.HashSet;
import java.util.List;
import java.util.Map;
import java.util.Objects;
import java.util.Set;
import java.util.TreeMap;
import java.util.concurrent.ConcurrentHashMap;
import java.util.concurrent.Executors;
import java.util.concurrent.Future;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.atomic.AtomicBoolean;
import java.util.concurrent.atomic.AtomicInteger;
import java.util.concurrent.atomic.LongAdder;
import java.util.stream.Collectors;
import org.jspecify.annotations.Nullable;
import org.junit.jupiter.api.AfterAll;
import org.junit.jupiter.api.BeforeAll;
import org.junit.jupiter.api.MethodOrderer;
import org.junit.jupiter.api.Order;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.TestMethodOrder;
import org.junit.jupiter.api.io.TempDir;

/**
 * Three models on one endpoint of one folder, two of ours and one of Dynamo's mocker, and an
 * adapter: each worker counts what it was asked, so a request that went to a wrong one shows.
 */
@ManyServers
@Sampled
@TestMethodOrder(MethodOrderer.OrderAnnotation.class)
class SharedEndpointIT {
  private static final ObjectMapper JSON = new ObjectMapper();
  private static final HttpClient HTTP = HttpClient.newHttpClient();
  private static final Duration LIMIT = Duration.ofSeconds(60);
  private static final Duration LOAD = Duration.ofMinutes(5);
  private static final String SERVED = "dynamo_component_requests_total";

  private static final int CLIENTS = 16;
  private static final int REQUESTS = 8_000; // while all models are there
  private static final int CHANGING = 2_000; // at least, while one goes and comes back

  private static final String OWN = Cluster.MODEL;
  private static final String OTHER = "other";
  private static final String ADAPTER = "other/adapter";
  private static final String MOCKED = "mocked";
  private static final List<String> NAMES = List.of(OWN, OTHER, ADAPTER, MOCKED);
  private static final Set<String> GOING = Set.of(OTHER, ADAPTER);

  @TempDir static Path store;
  @TempDir static Path adapter;

  @SuppressWarnings("NullAway.Init") // before all
  private static ServerProcess own;

  @SuppressWarnings("NullAway.Init")
  private static ServerProcess other;

  @SuppressWarnings("NullAway.Init")
  private static PeerProcess mocker;

  private static final Map<String, LongAdder> answered = new ConcurrentHashMap<>();

  private static ServerProcess.Plan server(String name) {
    return ServerProcess.Plan.named(name)
        .with("DYN_DISCOVERY_BACKEND", "file")
        .with("DYN_FILE_KV", store.toString())
        .with("DYNAMO_WORKER_ENGINE", "mock")
        .with("DYNAMO_WORKER_TOKEN_INTERVAL", "1ms");
  }

  @BeforeAll
  static void start() throws Exception {
    answered.clear(); // of an earlier run, whose servers counted for themselves
    Files.writeString(adapter.resolve("adapter_config.json"), "{\"r\":4}");
    Files.write(adapter.resolve("adapter_model.safetensors"), new byte[8]);
    mocker =
        PeerProcess.mocker(
            "shared-mocker", store, "--model-name", MOCKED, "--speedup-ratio", "100");
    own = server("shared-own").start();
    own.awaitReady();
    startOther();
    Polling.until("all are listed", Duration.ofMinutes(3), () -> listed().containsAll(NAMES));
  }

  /** Returns when it is ready and has its adapter. */
  private static void startOther() throws Exception {
    int status = ServerProcess.freePort();
    other =
        server("shared-other")
            .roles("worker")
            .with("DYN_MODEL_NAME", OTHER)
            .with("DYN_SYSTEM_PORT", Integer.toString(status))
            .with("DYN_LORA_ENABLED", "true")
            .start();
    other.awaitReady();
    var loaded =
        HTTP.send(
            HttpRequest.newBuilder(URI.create("http://127.0.0.1:" + status + "/v1/loras"))
                .header("Content-Type", "application/json")
                .POST(
                    HttpRequest.BodyPublishers.ofString(
                        "{\"lora_name\":\"%s\",\"source\":{\"uri\":\"%s\"}}"
                            .formatted(ADAPTER, adapter.toUri())))
                .build(),
            HttpResponse.BodyHandlers.ofString());
    assertThat(loaded.body()).contains("success");
  }

  @AfterAll
  static void stop() throws Exception {
    for (var process : Arrays.<@Nullable AutoCloseable>asList(mocker, other, own)) {
      if (process != null) { // the peer may be left out
        process.close();
      }
    }
  }

  private static Set<String> listed() throws IOException, InterruptedException {
    var names = new HashSet<String>();
    JSON.readTree(own.get("/v1/models").body())
        .path("data")
        .forEach(model -> names.add(model.path("id").asText()));
    return names;
  }

  private static int ask(String model, int number) throws IOException, InterruptedException {
    var body = ChatClient.body(model, "Question " + number % 50, 2, false);
    var answer = own.post("/v1/chat/completions", body);
    if (answer.statusCode() == 200) {
      assertThat(JSON.readTree(answer.body()).path("model").asText()).isEqualTo(model);
      answered.computeIfAbsent(model, _ -> new LongAdder()).increment();
    }
    return answer.statusCode();
  }

  private static long answered(String... models) {
    long sum = 0;
    for (var model : models) {
      sum += answered.computeIfAbsent(model, _ -> new LongAdder()).sum();
    }
    return sum;
  }

  /** Checks that each of our workers was asked as often as answers carry its names. */
  private static void assertNoneWasAskedForAnother() {
    ServerFacts.awaitMetric(own, SERVED, ServerFacts.GENERATE, answered(OWN));
    ServerFacts.awaitMetric(other, SERVED, ServerFacts.GENERATE, answered(OTHER, ADAPTER));
  }

  @Test
  @Order(1)
  void everyRequestIsServedByAWorkerOfItsModel() throws Exception {
    var next = new AtomicInteger();
    try (var clients = Executors.newFixedThreadPool(CLIENTS)) {
      var running = new ArrayList<Future<?>>();
      for (int client = 0; client < CLIENTS; client++) {
        running.add(
            clients.submit(
                () -> {
                  for (int i = next.getAndIncrement(); i < REQUESTS; i = next.getAndIncrement()) {
                    var model = NAMES.get(i % NAMES.size());
                    assertThat(ask(model, i)).as("%d for %s", i, model).isEqualTo(200);
                  }
                  return null;
                }));
      }
      for (var client : running) {
        client.get(LOAD.toSeconds(), TimeUnit.SECONDS);
      }
    }
    assertThat(answered(OWN, OTHER, ADAPTER, MOCKED)).isEqualTo(REQUESTS);
    assertNoneWasAskedForAnother();
    awaitMockerCount();
  }

  private static void awaitMockerCount() {
    Polling.until(
        "the mocker has counted all",
        LIMIT,
        () -> mocker.metric(SERVED, ServerFacts.GENERATE) == answered(MOCKED));
  }

  @Test
  @Order(2)
  void decisionsHaveConsideredWorkersOfTheModelAlone() throws Exception {
    for (var name : NAMES) {
      assertThat(ask(name, 1)).isEqualTo(200);
    }
    var considered = new TreeMap<String, Set<String>>();
    for (var decision : decisions()) {
      for (var candidate : decision.path("candidates")) {
        considered
            .computeIfAbsent(decision.path("model").asText(), _ -> new HashSet<>())
            .add(candidate.path("worker_id").asText());
      }
    }
    assertThat(considered).containsOnlyKeys(NAMES);
    assertThat(considered.values()).allSatisfy(workers -> assertThat(workers).hasSize(1));
    assertThat(considered.get(ADAPTER)).isEqualTo(considered.get(OTHER));
    assertThat(considered.values().stream().flatMap(Set::stream).collect(Collectors.toSet()))
        .hasSize(3);

    var foreign = Objects.requireNonNull(considered.get(OTHER)).iterator().next();
    var pinned =
        own.post(
            "/v1/chat/completions",
            ChatClient.body(OWN, "Hi", 2, false),
            "x-dynamo-worker-instance-id",
            foreign);
    assertThat(pinned.statusCode()).as(pinned.body()).isEqualTo(503);
    assertNoneWasAskedForAnother();
  }

  private static JsonNode decisions() throws IOException, InterruptedException {
    return JSON.readTree(own.get("/router/explain?limit=1000").body()).path("decisions");
  }

  /** The mocker stays: it refuses to start on an endpoint where another model is registered. */
  @Test
  @Order(3)
  void aModelThatGoesAndComesBackIsServedByNobodyElseMeanwhile() throws Exception {
    var next = new AtomicInteger();
    var back = new AtomicBoolean();
    var refused = new AtomicInteger();
    long before = 0;
    try (var clients = Executors.newFixedThreadPool(CLIENTS)) {
      var running = new ArrayList<Future<@Nullable Void>>();
      for (int client = 0; client < CLIENTS; client++) {
        running.add(
            clients.submit(
                () -> {
                  for (int i = next.getAndIncrement();
                      i < CHANGING || !back.get();
                      i = next.getAndIncrement()) {
                    var model = NAMES.get(i % NAMES.size());
                    int status = ask(model, i);
                    if (!GOING.contains(model)) {
                      assertThat(status).as("%d for %s", i, model).isEqualTo(200);
                    } else if (status != 200) {
                      // 529: a request for the adapter has reached the worker, which has just
                      // unloaded
                      // it and refuses as one without room does; no other worker has it
                      assertThat(status).as("%d for %s", i, model).isIn(404, 503, 529);
                      refused.incrementAndGet();
                    }
                  }
                  return null;
                }));
      }
      try {
        other.terminate();
        other.awaitExit();
        Polling.until("it is gone", LIMIT, () -> !listed().contains(OTHER) && refused.get() > 100);
        before = answered(OTHER, ADAPTER);
        startOther();
        long gone = before;
        Polling.until("both are back", LIMIT, () -> answered(OTHER, ADAPTER) > gone + 200);
      } finally {
        back.set(true); // the clients end
      }
      for (var client : running) {
        client.get(LOAD.toSeconds(), TimeUnit.SECONDS);
      }
    }
    ServerFacts.awaitMetric(own, SERVED, ServerFacts.GENERATE, answered(OWN));
    ServerFacts.awaitMetric(other, SERVED, ServerFacts.GENERATE, answered(OTHER, ADAPTER) - before);
    awaitMockerCount();
  }
}
