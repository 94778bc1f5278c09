package io.dynamo.frontend.console;

import static org.assertj.core.api.Assertions.assertThat;

import com.fasterxml.jackson.databind.JsonNode;
import com.fasterxml.jackson.databind.ObjectMapper;
import io.dynamo.config.OfflineSettings;
import io.dynamo.discovery.EndpointId;
import io.dynamo.discovery.InstanceId;
import io.dynamo.frontend.FakeExchange;
import io.dynamo.frontend.watch.RecentFailures;
import io.dynamo.kv.WorkerRank;
import io.dynamo.router.RouteExplanation;
import io.dynamo.router.RouteExplanations;
import java.io.IOException;
import java.time.Instant;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.concurrent.ExecutorService;
import java.util.concurrent.Executors;
import java.util.concurrent.TimeUnit;
import org.jspecify.annotations.Nullable;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;

@Timeout(30)
class ConsoleDataServletTest {
  private static final WorkerRank RANK = new WorkerRank(new InstanceId(0xf000_0000_0000_0001L), 0);
  private static final RouteExplanation DECISION =
      new RouteExplanation(
          "r1",
          new EndpointId("ns", "backend", "generate"),
          "m",
          Instant.EPOCH,
          "kv",
          1,
          0,
          42,
          16,
          RANK,
          "least_cost",
          "none",
          2,
          List.of(candidate(new WorkerRank(new InstanceId(7), 0), 1), candidate(RANK, 2)));

  private final ExecutorService threads = Executors.newVirtualThreadPerTaskExecutor();
  private final ConsoleFeed feed =
      new ConsoleFeed(threads, StillSampler::new, TimeUnit.MINUTES.toNanos(1));

  private static RouteExplanation.Candidate candidate(WorkerRank rank, int overlap) {
    return new RouteExplanation.Candidate(
        rank, overlap, 0, 0, 0, 0, 0, 0, 0, null, 0, 0, 0, 0, 12.5);
  }

  private static final class StillSampler implements ConsoleFeed.Sampler {
    @Override
    public Map<String, @Nullable Object> sample() {
      return Map.of("at", 1);
    }

    @Override
    public void close() {}
  }

  private static final class ConsoleExplanations implements RouteExplanations {
    @Override
    public Optional<RouteExplanation> of(String requestId) {
      return requestId.equals("r1") ? Optional.of(DECISION) : Optional.empty();
    }

    @Override
    public List<RouteExplanation> recent(int limit) {
      return List.of(DECISION);
    }

    @Override
    public boolean remote() {
      return false;
    }
  }

  @AfterEach
  void stop() {
    feed.close();
    threads.close();
  }

  private FakeExchange ask(String method, String path) throws IOException {
    var exchange = new FakeExchange(method, "/console/data" + path).with("getPathInfo", path);
    var settings =
        OfflineSettings.of(
                Map.of("NATS_AUTH_PASSWORD", "hunter2", "DYNAMO_ROUTER_MODE", "random"), null)
            .listing("");
    new ConsoleDataServlet(feed, new ConsoleExplanations(), new RecentFailures(), settings)
        .answer(exchange.request(), exchange.response());
    return exchange;
  }

  private JsonNode json(String path) throws IOException {
    var exchange = ask("GET", path);
    assertThat(exchange.status()).as(exchange.text()).isEqualTo(200);
    assertThat(exchange.headers()).containsEntry("Cache-Control", "no-store");
    return new ObjectMapper().readTree(exchange.text());
  }

  @Test
  void decisionsAreListedWithTheCandidateThatWasChosen() throws IOException {
    var decision = json("/decisions").path("decisions").path(0);
    assertThat(decision.path("request_id").asText()).isEqualTo("r1");
    assertThat(decision.has("candidates")).isFalse();
    assertThat(decision.at("/candidate/overlap_blocks/device").intValue()).isEqualTo(2);
    assertThat(decision.at("/chosen/worker").asText())
        .as("as text: a browser's numbers are too short")
        .isEqualTo("f000000000000001");
  }

  @Test
  void oneDecisionHasAllItsCandidatesAndIsFoundByTheClientsId() throws IOException {
    assertThat(json("/decisions/chatcmpl-r1").path("candidates")).hasSize(2);
    assertThat(ask("GET", "/decisions/other").status()).isEqualTo(404);
  }

  @Test
  void settingsHaveTheirValuesWithoutSecrets() throws IOException {
    var exchange = ask("GET", "/settings");
    assertThat(exchange.text()).doesNotContain("hunter2");
    var settings = json("/settings").path("settings");
    assertThat(settings.path("dynamo.router.mode").path("value").asText()).isEqualTo("random");
    assertThat(settings.path("dynamo.nats.password").path("value").asText()).isEqualTo("***");
  }

  @Test
  void failuresAreListed() throws IOException {
    assertThat(json("/failures").path("failures")).isEmpty();
  }

  @Test
  void dataIsOnlyReadAndOtherPathsAreNone() throws IOException {
    assertThat(ask("POST", "/settings").status()).isEqualTo(405);
    assertThat(ask("GET", "/nothing").status()).isEqualTo(404);
    assertThat(ask("GET", "").status()).isEqualTo(404);
  }

  @Test
  void oneStreamTooManyIsRefused() throws IOException {
    var open = new ArrayList<ConsoleFeed.Listener>();
    for (var one = feed.open(); one != null; one = feed.open()) {
      open.add(one);
    }
    var exchange = ask("GET", "/stream");
    assertThat(exchange.status()).isEqualTo(503);
    assertThat(exchange.text()).contains("32 consoles are open");
    open.forEach(ConsoleFeed.Listener::close);
  }
}
