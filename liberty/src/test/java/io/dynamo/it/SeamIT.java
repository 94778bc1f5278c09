package io.dynamo.it;

import static java.util.Objects.requireNonNull;
import static org.assertj.core.api.Assertions.assertThat;

import com.fasterxml.jackson.databind.ObjectMapper;
import com.fasterxml.jackson.databind.node.ObjectNode;
import java.io.IOException;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import java.util.concurrent.CountDownLatch;
import java.util.concurrent.ExecutorService;
import java.util.concurrent.Executors;
import java.util.concurrent.Future;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.atomic.AtomicInteger;
import org.jspecify.annotations.Nullable;
import org.junit.jupiter.api.AfterAll;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeAll;
import org.junit.jupiter.api.MethodOrderer;
import org.junit.jupiter.api.Order;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.TestMethodOrder;

/**
 * Options beside a text (several choices, stop strings, log probabilities, a least length) give the
 * same answer whether its worker goes half way or not. Each test can run alone.
 */
@ManyServers
@Sampled
@TestMethodOrder(MethodOrderer.OrderAnnotation.class)
class SeamIT {
  private static final ObjectMapper JSON = new ObjectMapper();
  private static final String MIGRATIONS = "dynamo_frontend_model_migration_total";
  private static final String ONGOING = "migration_type=\"ongoing_request\"";
  private static final String REQUESTS = "dynamo_frontend_requests_total";
  private static final String FAILED = "status=\"error\"";
  private static final String UNAVAILABLE = "\"type\":\"service_unavailable\"";
  private static final int TOKENS = 80;
  private static final Map<String, String> WORKER =
      Map.of(
          "DYNAMO_WORKER_TOKEN_INTERVAL", "100ms",
          "DYNAMO_RUNTIME_HANDOVER_AFTER", "0s",
          "DYNAMO_RUNTIME_DRAIN_TIMEOUT", "4s");

  @SuppressWarnings("NullAway.Init") // before all
  private static OracleText oracle;

  private static @Nullable Cluster started;
  private static @Nullable List<ChatAnswer> unbroken;

  private final ExecutorService executor = Executors.newVirtualThreadPerTaskExecutor();

  @BeforeAll
  static void start() throws Exception {
    oracle = OracleText.ofShippedModel();
    started = Cluster.Plan.of("seam", 2).worker(WORKER).start();
  }

  @AfterAll
  static void stop() {
    if (started != null) {
      started.close();
    }
  }

  @AfterEach
  void close() {
    executor.shutdownNow();
    executor.close();
  }

  /** With both workers, one of which a test before may have cost. */
  private static Cluster cluster() {
    var cluster = requireNonNull(started);
    if (!cluster.worker(0).isAlive() || cluster.registered() < 2) {
      cluster.replaceWorker(0);
    }
    return cluster;
  }

  @Test
  @Order(1)
  void nothingChangesWhenAWorkerIsDrained() throws Exception {
    var cluster = cluster();
    var unbroken = unbroken(cluster.frontend());
    long migrated = migrations(cluster);
    long failed = ServerFacts.metric(cluster.frontend(), REQUESTS, FAILED);
    int before = running(cluster);
    assertThat(before).isZero();
    var flowing = new CountDownLatch(requests().size());
    var answers = begin(cluster.frontend(), flowing, requests());
    assertThat(flowing.await(60, TimeUnit.SECONDS)).isTrue();
    var leaving = cluster.worker(0);
    long moving = ServerFacts.worker(leaving).running();
    assertThat(moving).isPositive();

    assertThat(ServerFacts.drain(leaving)).isEqualTo(202);

    Polling.until(
        "the worker is closed",
        Duration.ofSeconds(4), // streams of 8 s do not keep it
        () -> ServerFacts.worker(leaving).state().equals("closed"));
    assertThat(answers).as("and they go on").anyMatch(answer -> !answer.isDone());
    assertThat(results(answers)).isEqualTo(unbroken);
    ServerFacts.awaitMetric(cluster.frontend(), MIGRATIONS, ONGOING, migrated + moving);
    ServerFacts.awaitMetric(cluster.frontend(), REQUESTS, FAILED, failed);
    assertThat(leaving.messages()).contains("handed " + moving + " generations");
  }

  @Test
  @Order(2)
  void nothingChangesWhenAWorkerIsKilled() throws Exception {
    var cluster = cluster();
    var unbroken = unbroken(cluster.frontend());
    long migrated = migrations(cluster);
    var flowing = new CountDownLatch(requests().size());
    var answers = begin(cluster.frontend(), flowing, requests());
    assertThat(flowing.await(60, TimeUnit.SECONDS)).isTrue();
    long moving = ServerFacts.worker(cluster.worker(0)).running();
    assertThat(moving).isPositive();

    cluster.worker(0).kill();

    assertThat(results(answers)).isEqualTo(unbroken);
    ServerFacts.awaitMetric(cluster.frontend(), MIGRATIONS, ONGOING, migrated + moving);
  }

  @Test
  @Order(3)
  void aWorkerThatGoesWithoutASuccessorEndsItsStreamsInATypedError() throws Exception {
    var cluster = requireNonNull(started);
    cluster.worker(0).close();
    Discovered.await(cluster.store(), 1, Duration.ofSeconds(30));
    ServerFacts.awaitMetric(cluster.frontend(), "dynamo_component_router_worker_registered", "", 1);
    var flowing = new CountDownLatch(1);
    var answers = begin(cluster.frontend(), flowing, List.of(request(1)));
    assertThat(flowing.await(60, TimeUnit.SECONDS)).isTrue();

    cluster.worker(1).terminate();

    var answer = results(answers).getFirst();
    assertThat(answer.error()).contains(UNAVAILABLE, "\"code\":503");
    assertThat(answer.choice(0).text()).isNotEmpty();
    assertThat(oracle.answer(1, TOKENS)).startsWith(answer.choice(0).text());
    cluster.worker(1).awaitExit();
  }

  /** One of each kind, some of them twice so that both workers have some. */
  private static List<ObjectNode> requests() {
    var all = new ArrayList<ObjectNode>();
    for (int i = 0; i < 4; i++) {
      all.add(request(10 + i).put("n", 3).put("temperature", 1));
      all.add(request(20 + i).put("logprobs", true).put("top_logprobs", 2));
      all.add(request(30 + i).put("stop", stopFor(30 + i)));
      all.add(
          request(40 + i)
              .put("stop", stopFor(40 + i))
              .put("include_stop_str_in_output", true)
              .put("min_tokens", TOKENS / 4)
              .put("logprobs", true));
    }
    return all;
  }

  private static ObjectNode request(int number) {
    try {
      var body = ChatClient.body(Cluster.MODEL, OracleText.prompt(number), TOKENS, true);
      var request = (ObjectNode) JSON.readTree(body);
      request.putObject("stream_options").put("include_usage", true);
      return request;
    } catch (IOException broken) {
      throw new AssertionError(broken);
    }
  }

  /** Two halves of words near the end of the answer that come together nowhere before. */
  private static String stopFor(int number) {
    var text = oracle.answer(number, TOKENS - 10);
    var last = text.stripTrailing();
    int gap = last.lastIndexOf(' ');
    var stop = last.substring(gap - 2, gap + 3);
    assertThat(text.indexOf(stop)).as("'%s' in '%s'", stop, text).isGreaterThan(gap - 3);
    return stop;
  }

  private static int running(Cluster cluster) throws IOException, InterruptedException {
    return ServerFacts.worker(cluster.worker(0)).running()
        + ServerFacts.worker(cluster.worker(1)).running();
  }

  private static long migrations(Cluster cluster) throws IOException, InterruptedException {
    return ServerFacts.metric(cluster.frontend(), MIGRATIONS, ONGOING);
  }

  /** Returns the answers of the requests when nobody goes; computed once. */
  private List<ChatAnswer> unbroken(ServerProcess frontend) throws Exception {
    var known = unbroken;
    if (known != null) {
      return known;
    }
    var answers = results(begin(frontend, new CountDownLatch(0), requests()));
    assertThat(answers)
        .allSatisfy(
            answer -> {
              assertThat(answer.error()).isNull();
              assertThat(answer.choice(0).finish()).isIn("stop", "length");
            });
    assertThat(answers).extracting(answer -> answer.choice(0).finish()).contains("stop", "length");
    unbroken = answers;
    return answers;
  }

  private List<Future<ChatAnswer>> begin(
      ServerProcess frontend, CountDownLatch flowing, List<ObjectNode> requests) {
    return requests.stream()
        .map(
            request ->
                executor.submit(
                    () -> {
                      try (var client = ChatClient.post(frontend.port(), request.toString())) {
                        var seen = new AtomicInteger();
                        return ChatAnswer.read(
                            client,
                            () -> {
                              if (seen.incrementAndGet() == 6) { // some tokens of each choice
                                flowing.countDown();
                              }
                            });
                      }
                    }))
        .toList();
  }

  private static List<ChatAnswer> results(List<Future<ChatAnswer>> answers) throws Exception {
    var results = new ArrayList<ChatAnswer>();
    for (var answer : answers) {
      results.add(answer.get(2, TimeUnit.MINUTES));
    }
    return results;
  }
}
