package io.dynamo.it;

import static org.assertj.core.api.Assertions.assertThat;

import com.fasterxml.jackson.databind.ObjectMapper;
import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.Set;
import java.util.TreeSet;
import java.util.concurrent.ExecutorService;
import java.util.concurrent.Executors;
import java.util.concurrent.atomic.AtomicInteger;
import java.util.regex.Pattern;
import java.util.stream.Stream;
import org.junit.jupiter.api.AfterAll;
import org.junit.jupiter.api.BeforeAll;
import org.junit.jupiter.api.MethodOrderer;
import org.junit.jupiter.api.Order;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.TestMethodOrder;
import org.junit.jupiter.api.io.TempDir;

/**
 * The boards and alerts that ship with the product, before a real Prometheus that scrapes a
 * frontend and two workers under load: each query of a board has data, no alert fires while all is
 * well, and each fires under the fault that it is for. Minutes of the rules are seconds here. Run
 * by {@code .ci/full}, which installs Prometheus.
 */
@TestMethodOrder(MethodOrderer.OrderAnnotation.class)
class LiveMonitoring {
  private static final Path FILES = Path.of("src/deploy/helm/dynamo/files");
  private static final Duration LIMIT = Duration.ofSeconds(90);
  private static final int CALM = 4; // clients
  private static final int CROWD = 60; // clients
  private static final int RUNNING = 44; // of them at a time
  private static final int SHORT = 40; // tokens of an answer
  private static final int LONG = 400; // 22 of them hold more blocks than a worker has
  private static final String ONE_EVENT = "1";

  @TempDir static Path folder;
  private static final List<ServerProcess> SERVERS = new ArrayList<>();
  private static final List<Integer> STATUS_PORTS = new ArrayList<>();
  private static PrometheusProcess prometheus;
  private static Load load;
  private static final Set<String> FIRED = new TreeSet<>();

  /** Clients that chat, one answer after the other; answers that fail are part of the test. */
  private static final class Load implements AutoCloseable {
    private final ServerProcess frontend;
    private final ExecutorService threads = Executors.newVirtualThreadPerTaskExecutor();
    private final AtomicInteger wanted = new AtomicInteger();
    private final AtomicInteger tokens = new AtomicInteger();
    private final AtomicInteger number = new AtomicInteger();

    Load(ServerProcess frontend) {
      this.frontend = frontend;
      for (int i = 0; i < CROWD; i++) {
        int client = i;
        threads.execute(() -> chat(client));
      }
    }

    /** Has so many clients chat, for answers of so many tokens; the others wait. */
    void clients(int count, int answerTokens) {
      tokens.set(answerTokens);
      wanted.set(count);
    }

    private void chat(int client) {
      try {
        while (!Thread.currentThread().isInterrupted()) {
          if (client < wanted.get()) {
            ask();
          }
          Thread.sleep(50); // between two requests of a client
        }
      } catch (InterruptedException _) {
        // closed
      }
    }

    private void ask() throws InterruptedException {
      var prompt = "What is number " + number.getAndIncrement() + " of a long list?";
      try {
        var _ =
            frontend.post(
                "/v1/chat/completions", ChatClient.body(Cluster.MODEL, prompt, tokens.get(), true));
      } catch (IOException _) {
        // the frontend gives up what its workers do not answer
      }
    }

    @Override
    public void close() {
      threads.shutdownNow();
    }
  }

  @BeforeAll
  static void start() throws Exception {
    SERVERS.add(
        server("monitored-frontend", "frontend")
            .with("DYNAMO_FRONTEND_ADMISSION_MODELS", Cluster.MODEL + "=" + RUNNING + "/0/1s")
            .start());
    SERVERS.add(worker(1).start());
    SERVERS.add(worker(2).start());
    SERVERS.forEach(ServerProcess::awaitReady);
    var rules = Files.readString(FILES.resolve("alerts.yaml"));
    prometheus =
        PrometheusProcess.start(
            Files.createDirectory(folder.resolve("prometheus")), shortened(rules), STATUS_PORTS);
    load = new Load(SERVERS.getFirst());
    load.clients(CALM, SHORT);
  }

  private static ServerProcess.Plan server(String name, String role) throws IOException {
    int status = ServerProcess.freePort();
    STATUS_PORTS.add(status);
    return ServerProcess.Plan.named(name)
        .jvm("-Ddynamo.role=" + role)
        .with("DYN_DISCOVERY_BACKEND", "file")
        .with("DYN_FILE_KV", folder.resolve("discovery").toString())
        .with("DYN_SYSTEM_PORT", Integer.toString(status));
  }

  private static ServerProcess.Plan worker(int number) throws IOException {
    return server("monitored-worker-" + number, "worker")
        .with("DYNAMO_WORKER_TOKEN_INTERVAL", "10ms")
        .with("DYNAMO_WORKER_RANKS", "1")
        .with("DYNAMO_WORKER_BLOCKS_PER_RANK", "256");
  }

  @AfterAll
  static void stop() {
    Stream.of(load, prometheus)
        .filter(part -> part != null)
        .forEach(
            part -> {
              if (part instanceof Load clients) {
                clients.close();
              } else if (part instanceof PrometheusProcess process) {
                process.close();
              }
            });
    SERVERS.forEach(ServerProcess::close);
  }

  /** The rules with seconds in place of minutes and hours. */
  private static String shortened(String rules) {
    return rules
        .replace("[5m]", "[10s]")
        .replace("[1h]", "[20s]")
        .replace("[6h]", "[30s]")
        .replace("[15m]", "[30s]")
        .replaceAll("for: \\d+m", "for: 1s")
        .replaceAll("interval: \\d+s", "interval: 1s");
  }

  private static List<String> alerts() throws IOException {
    return Pattern.compile("- alert: (\\w+)")
        .matcher(Files.readString(FILES.resolve("alerts.yaml")))
        .results()
        .map(found -> found.group(1))
        .toList();
  }

  private static List<String> queries(String board) throws IOException {
    var queries = new ArrayList<String>();
    for (var panel : new ObjectMapper().readTree(FILES.resolve(board).toFile()).path("panels")) {
      for (var target : panel.path("targets")) {
        queries.add(
            target
                .path("expr")
                .asText()
                .replace("$__rate_interval", "10s")
                .replace("$model", ".*"));
      }
    }
    assertThat(queries).as(board).isNotEmpty();
    return queries;
  }

  @Test
  @Order(1)
  void eachQueryOfTheBoardsHasData() throws Exception {
    for (var board : List.of("dynamo-service.json", "dynamo-workers.json")) {
      for (var query : queries(board)) {
        Polling.until(query, LIMIT, () -> !prometheus.query(query).isEmpty());
      }
    }
    assertThat(prometheus.labelValues("model", "dynamo_frontend_model_ready"))
        .as("choices of the board's variable")
        .contains(Cluster.MODEL);
  }

  @Test
  @Order(2)
  void noAlertFiresWhileAllIsWell() throws Exception {
    Polling.until(
        "half a minute of scrapes",
        LIMIT,
        () ->
            prometheus.query("count_over_time(up{job=\"dynamo\"}[60s]) > 30").size()
                == STATUS_PORTS.size());
    assertThat(prometheus.firing()).isEmpty();
  }

  private static void awaitFiring(String... names) {
    for (var name : names) {
      Polling.until(
          name + " fires; fired so far: " + FIRED,
          LIMIT,
          () -> {
            FIRED.addAll(prometheus.firing());
            return FIRED.contains(name);
          });
    }
  }

  @Test
  @Order(3)
  void aCrowdIsSeen() {
    load.clients(CROWD, LONG);
    awaitFiring(
        "DynamoRequestsRefused",
        "DynamoCachePressure",
        "DynamoErrorsBurnFast",
        "DynamoErrorsBurnSlowly");
  }

  @Test
  @Order(4)
  void workersThatStandStillForSecondsAreSeen() throws Exception {
    var slow = List.of("DynamoFirstTokensSlow", "DynamoQueueGrows");
    for (int i = 0; i < 10 && !FIRED.containsAll(slow); i++) {
      load.clients(0, SHORT);
      Polling.until(
          "no request runs",
          LIMIT,
          () -> prometheus.query("sum(dynamo_frontend_inflight_requests) == 0").size() == 1);
      askPausedWorkers();
    }
    awaitFiring(slow.toArray(String[]::new));
  }

  /** Long enough for first tokens to be late, and too short for the workers to be given up. */
  private static void askPausedWorkers() throws Exception {
    var workers = SERVERS.subList(1, 3);
    for (var worker : workers) {
      worker.pause();
    }
    try {
      load.clients(RUNNING - 4, SHORT);
      for (int i = 0; i < 8; i++) {
        Thread.sleep(500); // the pause itself
        FIRED.addAll(prometheus.firing());
      }
    } finally {
      for (var worker : workers) {
        worker.resume();
      }
    }
  }

  @Test
  @Order(5)
  void workersThatAreGoneAreSeen() {
    load.clients(CALM, SHORT);
    SERVERS.get(1).kill();
    awaitFiring("DynamoServerDown", "DynamoWorkerLost");
    SERVERS.get(2).kill();
    awaitFiring("DynamoModelNotReady");
  }

  @Test
  @Order(6)
  void eventsThatAreDroppedAreSeen() throws Exception {
    var port = Integer.toString(STATUS_PORTS.get(1));
    SERVERS.add(
        worker(3)
            .with("DYN_SYSTEM_PORT", port)
            .with("DYN_ZMQ_EVENT_SUBSCRIBER_CHANNEL_CAPACITY", ONE_EVENT)
            .start());
    SERVERS.getLast().awaitReady();
    load.clients(RUNNING - 4, SHORT);
    awaitFiring("DynamoEventsLost");
  }

  @Test
  @Order(7)
  void eachAlertHasFired() throws Exception {
    assertThat(FIRED).containsExactlyInAnyOrderElementsOf(alerts());
  }
}
