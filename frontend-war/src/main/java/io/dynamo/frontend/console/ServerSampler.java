package io.dynamo.frontend.console;

import io.dynamo.frontend.watch.RecentFailures;
import io.dynamo.metrics.Label;
import io.dynamo.metrics.MetricNaming;
import io.dynamo.metrics.Metrics;
import io.dynamo.metrics.RouterMetrics;
import io.dynamo.router.RouteExplanations;
import java.time.InstantSource;
import java.util.ArrayDeque;
import java.util.ArrayList;
import java.util.Deque;
import java.util.HashMap;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.function.LongSupplier;
import org.jspecify.annotations.Nullable;

/**
 * Takes samples of the server's figures from its meters, its catalog and its router. To be used by
 * one thread, and closed.
 */
final class ServerSampler implements ConsoleFeed.Sampler {
  /** The sources of a sample. */
  record Sources(
      Metrics metrics,
      MetricNaming naming,
      WorkerRoster roster,
      ModelFigures models,
      WorkerFigures workers,
      RouteExplanations decisions,
      RecentFailures failures,
      InstantSource clock,
      LongSupplier nanoClock) {}

  private static final int RATE_SAMPLES = 5; // that a rate counts over
  private static final int LATENCY_SAMPLES = 15; // the same of latencies and hit rates
  private static final int DECISIONS = 256; // that the hit rates of ranks count over

  private static final String ALL = ""; // no model has this name

  private final Sources sources;
  private final MeterBoard board;
  private final Deque<Map<String, Traffic>> earlier = new ArrayDeque<>(); // newest first; by model

  /** Starts to read the meters of {@code sources}. */
  ServerSampler(Sources sources) {
    this.sources = sources;
    this.board = new MeterBoard(sources.naming());
    sources.metrics().attach(board);
  }

  /** Takes a sample: the totals, then models and workers. */
  @Override
  public Map<String, @Nullable Object> sample() {
    long nanos = sources.nanoClock().getAsLong();
    var workers = sources.roster().members();
    var cards = ModelFigures.cards(workers);
    var names = cards.keySet().stream().limit(ModelFigures.MOST_MODELS).toList();
    var traffic = new HashMap<String, Traffic>();
    traffic.put(ALL, Traffic.read(board, nanos));
    for (var name : names) {
      traffic.put(name, Traffic.read(board, nanos, new Label("model", name)));
    }
    var models = new ArrayList<Map<String, @Nullable Object>>();
    cards.forEach(
        (name, card) -> {
          if (traffic.containsKey(name)) {
            var model = sources.models().describe(card, workers);
            model.putAll(figures(name, traffic));
            models.add(model);
          }
        });
    var totals = figures(ALL, traffic);
    totals.put("router_queue", board.sum(RouterMetrics.QUEUE_REQUESTS));
    var sample = new LinkedHashMap<String, @Nullable Object>();
    sample.put("at", sources.clock().millis());
    sample.put("totals", totals);
    sample.put("models", models);
    sample.put("models_omitted", cards.size() - models.size());
    var described =
        sources.workers().describe(workers, sources.decisions().recent(DECISIONS), board);
    sample.put("workers", described);
    sample.put("workers_omitted", workers.size() - described.size());
    sample.put("departed", departed());
    sample.put("failures", sources.failures().count());
    remember(traffic);
    return sample;
  }

  private Map<String, @Nullable Object> figures(String model, Map<String, Traffic> now) {
    var current = now.get(model);
    return current == null
        ? new LinkedHashMap<>()
        : current.figures(before(model, RATE_SAMPLES), before(model, LATENCY_SAMPLES));
  }

  /** Returns the oldest of the last samples of a model; null when there is none. */
  private @Nullable Traffic before(String model, int samples) {
    Traffic found = null;
    int seen = 0;
    for (var one : earlier) {
      if (seen++ == samples) {
        break;
      }
      found = one.getOrDefault(model, found);
    }
    return found;
  }

  private void remember(Map<String, Traffic> traffic) {
    earlier.addFirst(traffic);
    if (earlier.size() > LATENCY_SAMPLES) {
      earlier.removeLast();
    }
  }

  private List<Map<String, @Nullable Object>> departed() {
    var list = new ArrayList<Map<String, @Nullable Object>>();
    for (var worker : sources.roster().departed()) {
      var json = new LinkedHashMap<String, @Nullable Object>();
      json.put("id", worker.id().hex());
      json.put("endpoint", worker.endpoint().toString());
      json.put("model", worker.model());
      json.put("at", worker.at().toEpochMilli());
      list.add(json);
    }
    return list;
  }

  /** Stops reading the meters. */
  @Override
  public void close() {
    sources.metrics().detach(board);
  }
}
