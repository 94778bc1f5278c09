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
import java.util.Collections;
import java.util.List;
import java.util.Map;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.atomic.AtomicInteger;
import java.util.stream.IntStream;
import org.junit.jupiter.api.AfterAll;
import org.junit.jupiter.api.BeforeAll;
import org.junit.jupiter.api.MethodOrderer;
import org.junit.jupiter.api.Order;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.TestMethodOrder;
import org.junit.jupiter.api.io.TempDir;

/**
 * A frontend and two workers, each of which starts a llama.cpp server of its own: the texts survive
 * the death of a server, which is started again, and no server survives its worker.
 */
@ManyServers
@Sampled
@TestMethodOrder(MethodOrderer.OrderAnnotation.class)
class EngineProcessIT {
  private static final ObjectMapper JSON = new ObjectMapper();
  private static final Path GOLDEN = Path.of("../frontend-war/src/test/resources/tiny/golden.json");
  private static final String PREDICTED = "llamacpp:tokens_predicted_total{";
  private static final Duration LIMIT = Duration.ofSeconds(60);
  private static final int STREAMS = 8;
  private static final int LONG_TOKENS = 2000;

  private static final AtomicInteger asked = new AtomicInteger(); // prompts of bodies()

  @TempDir static Path folder;
  private static List<LlamaServer> engines;
  private static List<Integer> statusPorts;
  private static Cluster cluster;

  @BeforeAll
  static void serve() throws Exception {
    engines = List.of(LlamaServer.atFreePort(4), LlamaServer.atFreePort(4));
    statusPorts = List.of(ServerProcess.freePort(), ServerProcess.freePort());
    var commands = List.of(engines.get(0).command(), engines.get(1).command());
    cluster =
        Cluster.Plan.of("engine-process", 2)
            .worker(
                index ->
                    Map.of(
                        "DYNAMO_WORKER_ENGINE", "llamacpp",
                        "DYNAMO_WORKER_RANKS", "1",
                        "DYNAMO_WORKER_LLAMACPP_URL", engines.get(index).address(),
                        "DYNAMO_WORKER_PROCESS_COMMAND", commands.get(index),
                        "DYNAMO_WORKER_PROCESS_LOG", log(index).toString(),
                        "DYN_SYSTEM_PORT", statusPorts.get(index).toString()))
            .start();
  }

  private static Path log(int index) {
    return folder.resolve("engine-" + index + ".log");
  }

  @AfterAll
  static void stop() {
    if (cluster != null) {
      cluster.close();
    }
  }

  /**
   * Prompts that begin differently, so that the routers' beliefs about one say nothing of others.
   */
  private static List<String> bodies() {
    int from = asked.getAndAdd(STREAMS);
    return IntStream.range(from, from + STREAMS)
        .mapToObj(
            i ->
                ChatClient.body(Cluster.MODEL, i + " is the number of a story", LONG_TOKENS, true)
                    .replaceFirst(
                        "\\{", "{\"ignore_eos\":true,\"stream_options\":{\"include_usage\":true},"))
        .toList();
  }

  private static JsonNode golden(String name) throws IOException {
    for (var golden : JSON.readTree(GOLDEN.toFile())) {
      if (golden.get("name").asText().equals(name)) {
        return golden;
      }
    }
    throw new AssertionError("no case " + name + " in " + GOLDEN);
  }

  private static String body(JsonNode conversation, int tokens) {
    var body = JSON.createObjectNode();
    body.put("model", Cluster.MODEL).put("stream", true);
    body.put("temperature", 0).put("max_tokens", tokens);
    body.set("messages", conversation.get("messages"));
    return body.toString();
  }

  private static void signal(ProcessHandle process, String name) throws IOException {
    var sent = new ProcessBuilder("kill", "-" + name, Long.toString(process.pid())).start();
    sent.onExit().orTimeout(10, TimeUnit.SECONDS).join();
    assertThat(sent.exitValue()).isZero();
  }

  private static List<String> texts(Crowd crowd) throws Exception {
    return crowd.unbroken().stream().map(Crowd.Outcome::text).toList();
  }

  private static ProcessHandle engine(int index) {
    return engines.get(index).process(cluster.worker(index));
  }

  private static String metrics(int index) throws IOException, InterruptedException {
    try (var client = HttpClient.newHttpClient()) {
      var request =
          HttpRequest.newBuilder(URI.create(statusServer(index) + "/metrics"))
              .timeout(LIMIT)
              .build();
      return client.send(request, HttpResponse.BodyHandlers.ofString()).body();
    }
  }

  private static String statusServer(int index) {
    return "http://127.0.0.1:" + statusPorts.get(index);
  }

  @Test
  @Order(1)
  void theEnginesMetricsSayWhichWorkerTheyBelongTo() throws Exception {
    var answer =
        cluster
            .frontend()
            .post(
                "/v1/chat/completions", ChatClient.body(Cluster.MODEL, "Count to ten", 16, false));
    assertThat(answer.statusCode()).as(answer.body()).isEqualTo(200);
    Polling.until("its tokens are counted", LIMIT, () -> predicted(0) + predicted(1) >= 16);
    for (int index = 0; index < 2; index++) {
      assertThat(metrics(index).lines().filter(line -> line.startsWith(PREDICTED)))
          .singleElement()
          .asString()
          .contains(
              "dynamo_namespace=\"dynamo\"",
              "dynamo_component=\"backend\"",
              "dynamo_endpoint=\"generate\"",
              "worker_id=\"",
              "model=\"tiny\"",
              "model_name=\"tiny\"");
      SdkScript.python("prometheus_text.py")
          .run(Files.createDirectory(folder.resolve("metrics-" + index)), statusServer(index));
    }
  }

  /** Returns how many tokens the engine of a worker has generated. */
  private static long predicted(int index) throws IOException, InterruptedException {
    return metrics(index)
        .lines()
        .filter(line -> line.startsWith(PREDICTED))
        .mapToLong(line -> Math.round(Double.parseDouble(line.substring(line.lastIndexOf(' ')))))
        .sum();
  }

  @Test
  @Order(2)
  void aClientThatLeavesFreesTheEngine() throws Exception {
    try (var client =
        cluster.frontend().chat(bodies().getFirst().replace("" + LONG_TOKENS, "3900"))) {
      assertThat(client.status()).isEqualTo(200);
      var event = client.next();
      while (event != null && event.text().isEmpty()) {
        event = client.next();
      }
      assertThat(event).isNotNull();
      Polling.until("it is computed", LIMIT, () -> running() == 1 && busySlots() == 1);
      client.reset();
    }
    Polling.until("nothing is computed", LIMIT, () -> running() == 0 && busySlots() == 0);
  }

  private static int running() throws IOException, InterruptedException {
    return ServerFacts.worker(cluster.worker(0)).running()
        + ServerFacts.worker(cluster.worker(1)).running();
  }

  private static int busySlots() throws IOException, InterruptedException {
    return engines.get(0).busySlots() + engines.get(1).busySlots();
  }

  @Test
  @Order(3)
  void aRepeatedPromptGoesToTheEngineThatHasItAlthoughItPublishesNoEvents() throws Exception {
    var frontend = cluster.frontend().uri("/");
    for (var subject : List.of("river", "castle", "train", "garden")) {
      var prompt = "Tell me about a %s. ".formatted(subject) + "It is old and quiet. ".repeat(12);
      var body = ChatClient.body(Cluster.MODEL, prompt, 4, false);
      var first = RoutedChat.ask(frontend, body);
      var second = RoutedChat.ask(frontend, body);
      assertThat(second.chosen()).isEqualTo(first.chosen());
      assertThat(second.believedTokens()).isPositive();
      assertThat(second.cachedTokens()).isGreaterThanOrEqualTo(second.believedTokens());
    }
  }

  @Test
  @Order(4)
  void requestsOfAnEngineThatHangsAndDiesAreAnsweredByTheOther() throws Exception {
    var golden = golden("count-100");
    int index;
    ProcessHandle hanging;
    var bodies = Collections.nCopies(STREAMS, body(golden.get("request"), 1000));
    try (var crowd = Crowd.ask(cluster.frontend().port(), 0, bodies)) {
      // equal prompts may all go to one engine
      Polling.until("an engine has requests", LIMIT, () -> running() > 0);
      index = ServerFacts.worker(cluster.worker(0)).running() > 0 ? 0 : 1;
      hanging = engine(index);
      signal(hanging, "STOP");
      hanging.destroyForcibly();

      assertThat(texts(crowd))
          .containsOnly(golden.get("output_text").asText().replace("<|im_end|>", ""));
    }
    awaitRestart(index, hanging);
  }

  @Test
  @Order(5)
  void streamsOfAnEngineThatIsKilledEndWithAllTheirTokens() throws Exception {
    long moved = migrations();
    var first = engine(0);
    try (var crowd = Crowd.ask(cluster.frontend().port(), 0, bodies())) {
      crowd.awaitFlowing();
      assertThat(ServerFacts.worker(cluster.worker(0)).running()).isPositive();

      first.destroyForcibly();

      // which words they are depends on llama.cpp's batches, in texts as doubtful as these
      assertThat(crowd.unbroken()).extracting(Crowd.Outcome::tokens).containsOnly(LONG_TOKENS);
    }
    Polling.until("some moved", LIMIT, () -> migrations() > moved);
    awaitRestart(0, first);
  }

  /** Waits until a worker's server was started again and gets streams. */
  private static void awaitRestart(int index, ProcessHandle before) {
    Polling.until("the server runs again", LIMIT, () -> engines.get(index).isReady());
    assertThat(engine(index).pid()).isNotEqualTo(before.pid());
    Polling.until("its worker is back", LIMIT, () -> cluster.registered() == 2);
    Polling.until(
        "it generates again",
        LIMIT,
        () -> {
          try (var crowd = Crowd.ask(cluster.frontend().port(), 0, bodies())) {
            crowd.awaitFlowing();
            return engines.get(index).busySlots() > 0;
          }
        });
  }

  private static long migrations() throws IOException, InterruptedException {
    return ServerFacts.metric(cluster.frontend(), "dynamo_frontend_model_migration_total", "");
  }

  @Test
  @Order(6)
  void noEngineSurvivesItsWorker() throws Exception {
    var stopped = family(cluster.worker(0));
    var killed = family(cluster.worker(1));
    assertThat(stopped).as("a shell and a server").hasSizeGreaterThan(1);
    assertThat(killed).as("a shell and a server").hasSizeGreaterThan(1);

    cluster.worker(0).terminate();
    cluster.worker(1).java().destroyForcibly(); // the worker alone

    for (var processes : List.of(stopped, killed)) {
      Polling.until(
          "its processes ended", LIMIT, () -> processes.stream().noneMatch(EngineProcessIT::runs));
    }
    cluster.worker(0).awaitExit();
  }

  /** Whether it runs; nobody may have waited for those whose parent was killed. */
  private static boolean runs(ProcessHandle process) {
    try {
      var stat = Files.readString(Path.of("/proc", Long.toString(process.pid()), "stat"));
      return stat.charAt(stat.lastIndexOf(')') + 2) != 'Z';
    } catch (IOException _) {
      return false; // it is gone
    }
  }

  private static List<ProcessHandle> family(ServerProcess worker) {
    return worker.java().descendants().toList();
  }
}
