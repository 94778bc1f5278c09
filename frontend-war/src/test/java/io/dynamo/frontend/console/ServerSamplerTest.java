package io.dynamo.frontend.console;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.within;

import com.fasterxml.jackson.databind.JsonNode;
import com.fasterxml.jackson.databind.ObjectMapper;
import io.dynamo.concurrent.Cancellation;
import io.dynamo.discovery.EndpointId;
import io.dynamo.discovery.Instance;
import io.dynamo.discovery.InstanceId;
import io.dynamo.discovery.ModelRecord;
import io.dynamo.discovery.TransportAddress;
import io.dynamo.frontend.FrontendMetrics;
import io.dynamo.frontend.TestCard;
import io.dynamo.frontend.catalog.ModelCatalog;
import io.dynamo.frontend.catalog.PlayedDiscovery;
import io.dynamo.frontend.catalog.Readiness;
import io.dynamo.frontend.catalog.ServedModel;
import io.dynamo.frontend.watch.RecentFailures;
import io.dynamo.json.Json;
import io.dynamo.kv.WorkerRank;
import io.dynamo.metrics.Label;
import io.dynamo.metrics.MetricNaming;
import io.dynamo.metrics.Metrics;
import io.dynamo.metrics.WorkerMetrics;
import io.dynamo.net.PayloadFormat;
import io.dynamo.router.RankReports;
import io.dynamo.router.RouteExplanation;
import io.dynamo.router.RouteExplanations;
import io.dynamo.runtime.EndpointInstances;
import java.io.IOException;
import java.time.Instant;
import java.util.ArrayList;
import java.util.HashSet;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.SequencedMap;
import java.util.Set;
import java.util.TreeMap;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;

class ServerSamplerTest {
  private static final EndpointId ENDPOINT = new EndpointId("ns", "backend", "generate");
  private static final InstanceId SELF = new InstanceId(1);
  private static final InstanceId OTHER = new InstanceId(0xf000_0000_0000_0002L);
  private static final Label MODEL = new Label("model", "m");
  private static final Label[] CHAT = {
    MODEL, new Label("endpoint", "chat_completions"), new Label("request_type", "stream")
  };

  private final Metrics metrics = new Metrics();
  private final PlayedDiscovery discovery = new PlayedDiscovery();
  private final WorkerRoster roster = new WorkerRoster(_ -> true, () -> Instant.EPOCH);
  private final List<RouteExplanation> decisions = new ArrayList<>();
  private final Set<InstanceId> inhibited = new HashSet<>();
  private final RecentFailures failures = new RecentFailures();
  private Optional<RankReports.RankReport> report = Optional.empty();
  private long nanos = 1;
  private final ServerSampler sampler = sampler();

  private ServerSampler sampler() {
    return new ServerSampler(
        new ServerSampler.Sources(
            metrics,
            MetricNaming.PLAIN,
            roster,
            new ModelFigures(new ReadyCatalog(), _ -> 2),
            new WorkerFigures(_ -> new PlayedInstances(), (_, _) -> report, SELF),
            new Decisions(),
            failures,
            () -> Instant.EPOCH,
            () -> nanos));
  }

  private final class PlayedInstances implements EndpointInstances {
    @Override
    public List<Instance> live() {
      return List.of(
          new Instance(
              ENDPOINT,
              OTHER,
              new TransportAddress.Tcp("10.0.0.1:9", "x"),
              "cpu",
              PayloadFormat.JSON));
    }

    @Override
    public Set<InstanceId> inhibited() {
      return inhibited;
    }

    @Override
    public void inhibit(InstanceId id) {
      throw new AssertionError("a sample changes nothing");
    }

    @Override
    public Cancellation.Registration onChange(Runnable listener) {
      throw new AssertionError("a sample follows nothing");
    }
  }

  private final class Decisions implements RouteExplanations {
    @Override
    public Optional<RouteExplanation> of(String requestId) {
      return Optional.empty();
    }

    @Override
    public List<RouteExplanation> recent(int limit) {
      return decisions;
    }

    @Override
    public boolean remote() {
      return false;
    }
  }

  private static final class ReadyCatalog implements ModelCatalog {
    @Override
    public List<ServedModel> models() {
      return List.of();
    }

    @Override
    public Optional<ServedModel> find(String name) {
      return Optional.empty();
    }

    @Override
    public List<ServedModel> sets(String name) {
      return List.of();
    }

    @Override
    public Optional<ServedModel> choose(String name, Query query) {
      return Optional.empty();
    }

    @Override
    public boolean isKnown(String name) {
      return true;
    }

    @Override
    public SequencedMap<String, Set<String>> waiting() {
      return new TreeMap<>();
    }

    @Override
    public Optional<Readiness> readiness(String name) {
      return Optional.of(
          new Readiness(
              List.of(new Readiness.Namespace("ns", "no prefill worker", List.of(), List.of()))));
    }

    @Override
    public List<ServedModel> successors(ServedModel lost) {
      return List.of();
    }
  }

  @BeforeEach
  void follow() {
    roster.follow(discovery);
  }

  private void addWorker(InstanceId id) {
    discovery.add(
        new ModelRecord(
            ENDPOINT,
            id,
            TestCard.named("m").runtimeConfig(Map.of("total_kv_blocks", 64)).build(),
            null));
  }

  private JsonNode sample() throws IOException {
    nanos += 1_000_000_000;
    return new ObjectMapper().readTree(Json.write(sampler.sample()));
  }

  @Test
  void ratesAreUnknownInTheFirstSampleAndCountFromThereOn() throws IOException {
    metrics.counter(FrontendMetrics.REQUESTS_STARTED, CHAT).add(1000);
    assertThat(sample().at("/totals/requests_per_second").isNull()).isTrue();
    metrics.counter(FrontendMetrics.REQUESTS_STARTED, CHAT).add(8);
    metrics.counter(FrontendMetrics.OUTPUT_TOKENS, MODEL).add(100);
    var totals = sample().path("totals");
    assertThat(totals.path("requests_per_second").doubleValue()).isCloseTo(8, within(1e-9));
    assertThat(totals.path("tokens_per_second").doubleValue()).isCloseTo(100, within(1e-9));
    assertThat(totals.path("streams").intValue()).as("none has ended").isEqualTo(1008);
  }

  @Test
  void latenciesAreThoseOfTheLastSecondsAndUnknownWithoutAny() throws IOException {
    metrics.timer(FrontendMetrics.TIME_TO_FIRST_TOKEN, MODEL).record(100.0, 500);
    sample();
    var quiet = sample().path("totals");
    assertThat(quiet.path("ttft_p50").isNull()).as("none since").isTrue();
    assertThat(quiet.path("hit_rate").isNull()).isTrue();
    metrics.timer(FrontendMetrics.TIME_TO_FIRST_TOKEN, MODEL).record(0.01, 10);
    metrics.timer(FrontendMetrics.INPUT_SEQUENCE, MODEL).record(100, 2);
    metrics.timer(FrontendMetrics.CACHED_TOKENS, MODEL).record(80, 1);
    var busy = sample().path("totals");
    assertThat(busy.path("ttft_p95").doubleValue()).isBetween(0.001, 0.1);
    assertThat(busy.path("hit_rate").doubleValue()).isCloseTo(0.4, within(1e-9));
  }

  @Test
  void errorsAreCountedByKind() throws IOException {
    sample();
    for (var type : List.of("overload", "cancelled", "internal", "internal")) {
      metrics
          .counter(
              FrontendMetrics.REQUESTS,
              MODEL,
              new Label("endpoint", "chat_completions"),
              new Label("request_type", "unary"),
              new Label("status", "error"),
              new Label("error_type", type))
          .increment();
    }
    var totals = sample().path("totals");
    assertThat(totals.path("refused").intValue()).isEqualTo(1);
    assertThat(totals.path("cancelled").intValue()).isEqualTo(1);
    assertThat(totals.path("failed").intValue()).isEqualTo(2);
    assertThat(totals.path("failed_per_second").doubleValue()).isCloseTo(2, within(1e-9));
  }

  @Test
  void aModelHasItsOwnFiguresAndTheTotalsHaveAll() throws IOException {
    addWorker(OTHER);
    sample();
    metrics.counter(FrontendMetrics.OUTPUT_TOKENS, MODEL).add(30);
    metrics.counter(FrontendMetrics.OUTPUT_TOKENS, new Label("model", "other")).add(12);
    metrics.timer(FrontendMetrics.TIME_TO_FIRST_TOKEN, new Label("model", "other")).record(1, 5);
    var sample = sample();
    assertThat(sample.at("/totals/tokens_per_second").doubleValue()).isCloseTo(42, within(1e-9));
    assertThat(sample.at("/models/0/tokens_per_second").doubleValue()).isCloseTo(30, within(1e-9));
    assertThat(sample.at("/totals/ttft_p50").isNull()).isFalse();
    assertThat(sample.at("/models/0/ttft_p50").isNull()).isTrue();
  }

  @Test
  void modelsAreListedWithTheReasonWhyTheyAreNotReady() throws IOException {
    addWorker(OTHER);
    var model = sample().path("models").path(0);
    assertThat(model.path("name").asText()).isEqualTo("m");
    assertThat(model.path("ready").booleanValue()).isFalse();
    assertThat(model.path("why").asText()).isEqualTo("ns: no prefill worker");
    assertThat(model.path("workers").intValue()).isEqualTo(1);
  }

  @Test
  void unknownFiguresOfARankAreNull() throws IOException {
    addWorker(OTHER);
    var worker = sample().path("workers").path(0);
    assertThat(worker.path("id").asText()).isEqualTo("f000000000000002");
    assertThat(worker.path("state").asText()).isEqualTo("live");
    var rank = worker.path("ranks").path(0);
    assertThat(rank.path("total_blocks").intValue()).isEqualTo(64);
    for (var figure :
        List.of("used_blocks", "running", "waiting", "hit_rate", "ttft", "report_age")) {
      assertThat(rank.get(figure).isNull()).as(figure).isTrue();
    }
  }

  @Test
  void aRankShowsItsReportItsBookingsAndItsPrefixHits() throws IOException {
    addWorker(OTHER);
    report = Optional.of(new RankReports.RankReport(9L, null, null, 3_000_000_000L));
    var labels =
        new Label[] {
          new Label("worker_id", Long.toUnsignedString(OTHER.value())),
          new Label("dp_rank", "0"),
          new Label("worker_type", "decode")
        };
    metrics.gauge(FrontendMetrics.WORKER_BLOCKS, () -> 5, labels);
    decisions.add(decision(OTHER, 16 * 10 + 3, 4));
    decisions.add(decision(OTHER, 16 * 10, 6));
    inhibited.add(OTHER);
    var worker = sample().path("workers").path(0);
    assertThat(worker.path("state").asText()).isEqualTo("set aside");
    var rank = worker.path("ranks").path(0);
    assertThat(rank.path("used_blocks").intValue()).isEqualTo(9);
    assertThat(rank.path("prefill_tokens").isNull()).isTrue();
    assertThat(rank.path("report_age").doubleValue()).isEqualTo(3);
    assertThat(rank.path("booked_blocks").intValue()).isEqualTo(5);
    assertThat(rank.path("hit_rate").doubleValue()).isCloseTo(0.5, within(1e-9));
  }

  private static RouteExplanation decision(InstanceId worker, int promptTokens, int overlap) {
    var rank = new WorkerRank(worker, 0);
    return new RouteExplanation(
        "r",
        ENDPOINT,
        "m",
        Instant.EPOCH,
        "kv",
        0,
        0,
        promptTokens,
        16,
        rank,
        "least_cost",
        "none",
        1,
        List.of(
            new RouteExplanation.Candidate(
                rank, overlap, 0, 0, 0, 0, 0, 0, 0, null, 0, 0, 0, 0, 0)));
  }

  @Test
  void theRanksOfThisProcessShowWhatRuns() throws IOException {
    addWorker(SELF);
    metrics.gauge(WorkerMetrics.RUNNING, () -> 7, MODEL, new Label("dp_rank", "0"));
    var worker = sample().path("workers").path(0);
    assertThat(worker.path("own").booleanValue()).isTrue();
    assertThat(worker.path("state").asText())
        .as("no instance in discovery")
        .isEqualTo("unreachable");
    assertThat(worker.at("/ranks/0/running").intValue()).isEqualTo(7);
  }

  @Test
  void aClosedSamplerReadsNoMeters() throws IOException {
    sampler.close();
    metrics.counter(FrontendMetrics.REQUESTS_STARTED, CHAT).add(5);
    assertThat(sample().at("/totals/requests").intValue()).isZero();
  }
}
