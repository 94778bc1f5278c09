package io.dynamo.frontend.console;

import io.dynamo.discovery.EndpointId;
import io.dynamo.discovery.Instance;
import io.dynamo.discovery.InstanceId;
import io.dynamo.discovery.ModelRecord;
import io.dynamo.frontend.FrontendMetrics;
import io.dynamo.json.Json;
import io.dynamo.kv.WorkerRank;
import io.dynamo.metrics.Label;
import io.dynamo.metrics.MetricName;
import io.dynamo.metrics.WorkerMetrics;
import io.dynamo.model.ModelCard;
import io.dynamo.router.RankReports;
import io.dynamo.router.RouteExplanation;
import io.dynamo.runtime.EndpointInstances;
import java.util.ArrayList;
import java.util.HashMap;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.Objects;
import java.util.Set;
import java.util.function.Function;
import org.jspecify.annotations.Nullable;

/**
 * Describes the workers and the load of each of their ranks: what the router has booked, what
 * workers report, and what this process knows of a worker of its own. A figure that is not known is
 * null. Safe for concurrent use.
 */
final class WorkerFigures {
  /** The greatest number of ranks that are listed, of all workers together. */
  static final int MOST_RANKS = 512;

  private static final Set<String> EMBEDS = Set.of("Embedding");
  private static final int MOST_RANKS_OF_ONE = 256;

  /** The metrics of ranks that the frontend publishes, by the name of the figure. */
  private static final Map<String, MetricName> BOOKED =
      Map.of(
          "booked_blocks", FrontendMetrics.WORKER_BLOCKS,
          "booked_prefill_tokens", FrontendMetrics.WORKER_PREFILL,
          "ttft", FrontendMetrics.WORKER_FIRST_TOKEN,
          "itl", FrontendMetrics.WORKER_INTER_TOKEN);

  /** The metrics of the ranks of this process's own worker. */
  private static final Map<String, MetricName> OWN =
      Map.of(
          "running", WorkerMetrics.RUNNING,
          "waiting", WorkerMetrics.WAITING,
          "cached_blocks", WorkerMetrics.CACHED_BLOCKS);

  private record RankKey(String worker, String rank) {}

  private final Function<EndpointId, EndpointInstances> instances;
  private final RankReports reports;
  private final InstanceId self;

  /**
   * @param self the identity of this process in discovery
   */
  WorkerFigures(
      Function<EndpointId, EndpointInstances> instances, RankReports reports, InstanceId self) {
    this.instances = instances;
    this.reports = reports;
    this.self = self;
  }

  /**
   * Returns the workers with their ranks, {@link #MOST_RANKS} at most.
   *
   * @param decisions the newest decisions, from which the share of cached blocks is taken
   */
  List<Map<String, @Nullable Object>> describe(
      List<WorkerRoster.Member> workers, List<RouteExplanation> decisions, MeterBoard board) {
    var booked = series(board, BOOKED, "worker_id");
    var own = series(board, OWN, null);
    var hits = PrefixHits.of(decisions);
    var described = new ArrayList<Map<String, @Nullable Object>>();
    int room = MOST_RANKS;
    for (var worker : workers) {
      if (room == 0) {
        break;
      }
      var card = base(worker).card();
      int ranks = Math.min(room, Math.clamp(card.ranks(), 1, MOST_RANKS_OF_ONE));
      room -= ranks;
      var json = describe(worker);
      var list = new ArrayList<Map<String, @Nullable Object>>();
      for (int i = 0; i < ranks; i++) {
        var rank = new WorkerRank(worker.id(), firstRank(card) + i);
        var key =
            new RankKey(Long.toUnsignedString(worker.id().value()), Integer.toString(rank.rank()));
        var figures = new LinkedHashMap<String, @Nullable Object>();
        figures.put("rank", rank.rank());
        figures.put("total_blocks", card.runtimeConfig().get("total_kv_blocks"));
        addReport(figures, base(worker).endpoint(), rank);
        BOOKED.keySet().forEach(name -> figures.put(name, value(booked, name, key)));
        var local = new RankKey("", Integer.toString(i)); // its own series have no worker
        OWN.keySet()
            .forEach(
                name ->
                    figures.put(name, worker.id().equals(self) ? value(own, name, local) : null));
        figures.put("hit_rate", hits.rate(rank));
        list.add(figures);
      }
      json.put("ranks", list);
      described.add(json);
    }
    return described;
  }

  private static ModelRecord base(WorkerRoster.Member worker) {
    @Nullable ModelRecord embeds = null;
    for (var record : worker.records()) {
      if (record.suffix() == null) {
        if (!record.card().modelTypes().equals(EMBEDS)) {
          return record;
        }
        embeds = record; // of a worker that may generate, too, at another endpoint
      }
    }
    return embeds == null ? worker.records().getFirst() : embeds;
  }

  private static int firstRank(ModelCard card) {
    return card.runtimeConfig().get("data_parallel_start_rank") instanceof Number number
        ? Math.max(0, number.intValue())
        : 0;
  }

  private Map<String, @Nullable Object> describe(WorkerRoster.Member worker) {
    var record = base(worker);
    var json = new LinkedHashMap<String, @Nullable Object>();
    json.put("id", worker.id().hex());
    json.put("worker_id", Json.unsigned(worker.id().value()).toString());
    json.put("since", worker.since().toEpochMilli());
    json.put("endpoint", record.endpoint().toString());
    json.put("type", record.card().effectiveWorkerType());
    json.put(
        "models", worker.records().stream().map(it -> it.card().displayName()).distinct().toList());
    json.put("own", worker.id().equals(self));
    var at = instances.apply(record.endpoint());
    var instance = at.live().stream().filter(it -> it.id().equals(worker.id())).findFirst();
    json.put("address", instance.map(Instance::transport).map(Object::toString).orElse(null));
    json.put("device", instance.map(Instance::deviceType).orElse(null));
    json.put(
        "state",
        instance.isEmpty()
            ? "unreachable"
            : at.inhibited().contains(worker.id()) ? "set aside" : "live");
    return json;
  }

  private void addReport(
      Map<String, @Nullable Object> figures, EndpointId endpoint, WorkerRank rank) {
    var report = reports.report(endpoint, rank).orElse(null);
    figures.put("used_blocks", report == null ? null : report.usedBlocks());
    figures.put("prefill_tokens", report == null ? null : report.prefillTokens());
    figures.put("report_age", report == null ? null : report.ageNanos() / 1e9);
  }

  /** Reads the series of some metrics by figure, worker and rank. */
  private static Map<String, Map<RankKey, Double>> series(
      MeterBoard board, Map<String, MetricName> metrics, @Nullable String workerLabel) {
    var all = new HashMap<String, Map<RankKey, Double>>();
    metrics.forEach(
        (figure, metric) -> {
          var values = new HashMap<RankKey, Double>();
          board.each(
              metric,
              List.of(),
              (labels, value) -> values.merge(key(labels, workerLabel), value, Double::sum));
          all.put(figure, values);
        });
    return all;
  }

  private static RankKey key(List<Label> labels, @Nullable String workerLabel) {
    var worker = workerLabel == null ? "" : MeterBoard.label(labels, workerLabel);
    return new RankKey(
        Objects.requireNonNullElse(worker, ""),
        Objects.requireNonNullElse(MeterBoard.label(labels, "dp_rank"), ""));
  }

  private static @Nullable Double value(
      Map<String, Map<RankKey, Double>> series, String figure, RankKey key) {
    var value = series.getOrDefault(figure, Map.of()).get(key);
    return value == null || value.isNaN() ? null : value;
  }
}
