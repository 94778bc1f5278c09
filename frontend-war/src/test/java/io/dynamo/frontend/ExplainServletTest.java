package io.dynamo.frontend;

import static org.assertj.core.api.Assertions.assertThat;

import com.fasterxml.jackson.databind.JsonNode;
import com.fasterxml.jackson.databind.ObjectMapper;
import io.dynamo.discovery.EndpointId;
import io.dynamo.discovery.InstanceId;
import io.dynamo.kv.WorkerRank;
import io.dynamo.router.RouteExplanation;
import io.dynamo.router.RouteExplanations;
import java.io.IOException;
import java.time.Instant;
import java.util.List;
import java.util.Optional;
import org.jspecify.annotations.Nullable;
import org.junit.jupiter.api.Test;

class ExplainServletTest {
  private static final WorkerRank RANK = new WorkerRank(new InstanceId(0xf000_0000_0000_0001L), 2);
  private static final RouteExplanation DECISION =
      new RouteExplanation(
          "r1",
          new EndpointId("ns", "backend", "generate"),
          "m",
          Instant.EPOCH,
          "kv",
          1_500_000,
          500_000,
          42,
          16,
          RANK,
          "least_cost",
          "none",
          1,
          List.of(
              new RouteExplanation.Candidate(
                  RANK,
                  2,
                  1,
                  0,
                  6,
                  100,
                  7,
                  3,
                  4,
                  new RouteExplanation.Report(9L, null, null, 3_000_000, true),
                  8.5,
                  2.75,
                  3,
                  10,
                  12.75)));

  private static final class FixedExplanations implements RouteExplanations {
    @Override
    public Optional<RouteExplanation> of(String requestId) {
      return requestId.equals("r1") ? Optional.of(DECISION) : Optional.empty();
    }

    @Override
    public List<RouteExplanation> recent(int limit) {
      return limit == 0 ? List.of() : List.of(DECISION);
    }

    @Override
    public boolean remote() {
      return false;
    }
  }

  private FakeExchange exchange = new FakeExchange("GET", "/router/explain");

  private JsonNode ask(String method, @Nullable String path, @Nullable String limit)
      throws IOException {
    exchange =
        new FakeExchange(method, "/router/explain")
            .with("getPathInfo", path)
            .with("getParameter", limit);
    new ExplainServlet(new FixedExplanations()).answer(exchange.request(), exchange.response());
    return new ObjectMapper().readTree(exchange.text());
  }

  @Test
  void aDecisionIsListedWithItsCandidatesAndCostTerms() throws IOException {
    var json = ask("GET", "/r1", null);
    assertThat(exchange.status()).isEqualTo(200);
    assertThat(json.path("request_id").asText()).isEqualTo("r1");
    assertThat(json.path("reason").asText()).isEqualTo("least_cost");
    assertThat(json.path("waited_ms").doubleValue()).isEqualTo(1.5);
    assertThat(json.path("chosen").path("worker_id").bigIntegerValue().toString())
        .isEqualTo("17293822569102704641");
    var candidate = json.path("candidates").path(0);
    assertThat(candidate.path("overlap_blocks").path("host").intValue()).isEqualTo(1);
    assertThat(candidate.path("load").path("prefill_tokens").intValue()).isEqualTo(100);
    var reported = candidate.path("reported_load");
    assertThat(reported.path("used_blocks").intValue()).isEqualTo(9);
    assertThat(reported.path("active_blocks").isNull()).as("not reported").isTrue();
    assertThat(reported.path("age_ms").doubleValue()).isEqualTo(3);
    assertThat(reported.path("used").booleanValue()).isTrue();
    assertThat(json.path("queued_ms").doubleValue()).isEqualTo(0.5);
    assertThat(candidate.path("terms").path("credit").doubleValue()).isEqualTo(2.75);
    assertThat(candidate.path("overlap_blocks").path("shared").intValue()).isEqualTo(6);
    assertThat(candidate.path("terms").path("shared").doubleValue()).isEqualTo(3);
    assertThat(candidate.path("cost").doubleValue()).isEqualTo(12.75);
  }

  @Test
  void theNewestDecisionsAreListedUpToALimit() throws IOException {
    assertThat(ask("GET", null, null).path("decisions")).hasSize(1);
    assertThat(ask("GET", "/", "0").path("decisions")).isEmpty();
    ask("GET", null, "many");
    assertThat(exchange.status()).isEqualTo(400);
  }

  @Test
  void theIdThatAClientHoldsFindsItsDecision() throws IOException {
    assertThat(ask("GET", "/chatcmpl-r1", null).path("request_id").asText()).isEqualTo("r1");
    assertThat(ask("GET", "/cmpl-r1", null).path("request_id").asText()).isEqualTo("r1");
    ask("GET", "/other-r1", null);
    assertThat(exchange.status()).isEqualTo(404);
  }

  @Test
  void anUnknownRequestIsNotFound() throws IOException {
    ask("GET", "/other", null);
    assertThat(exchange.status()).isEqualTo(404);
  }

  @Test
  void onlyGetIsAllowed() throws IOException {
    ask("POST", null, null);
    assertThat(exchange.status()).isEqualTo(405);
    assertThat(exchange.headers()).containsEntry("Allow", "GET");
  }
}
