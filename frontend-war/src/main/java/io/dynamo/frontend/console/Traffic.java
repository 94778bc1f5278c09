package io.dynamo.frontend.console;

import io.dynamo.frontend.FrontendMetrics;
import io.dynamo.frontend.dispatch.DispatchMetrics;
import io.dynamo.metrics.Label;
import java.util.Arrays;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import org.jspecify.annotations.Nullable;

/**
 * The frontend's counts up to one moment, of one model or of all. Rates are the differences between
 * two of them. Immutable.
 *
 * @param atNanos as {@link System#nanoTime()}
 * @param failed requests that ended in an error, other than those refused or cancelled
 * @param withoutToken requests under way whose first token is not out
 * @param waiting requests that wait for their turn
 */
record Traffic(
    long atNanos,
    double started,
    double failed,
    double refused,
    double cancelled,
    double outputTokens,
    double migrations,
    double streams,
    double inflight,
    double withoutToken,
    double waiting,
    Distribution firstToken,
    Distribution interToken,
    Distribution inputTokens,
    Distribution cachedTokens) {
  private static final double NANOS_PER_SECOND = 1e9;
  private static final Label STREAM = new Label("request_type", "stream");

  /** Reads the counts of all series that have {@code labels}. */
  static Traffic read(MeterBoard board, long nanos, Label... labels) {
    var errors = new double[3]; // failed, refused, cancelled
    board.each(
        FrontendMetrics.REQUESTS,
        List.of(labels),
        (series, value) -> {
          if ("error".equals(MeterBoard.label(series, "status"))) {
            var type = MeterBoard.label(series, "error_type");
            errors["overload".equals(type) ? 1 : "cancelled".equals(type) ? 2 : 0] += value;
          }
        });
    return new Traffic(
        nanos,
        board.sum(FrontendMetrics.REQUESTS_STARTED, labels),
        errors[0],
        errors[1],
        errors[2],
        board.sum(FrontendMetrics.OUTPUT_TOKENS, labels),
        board.sum(DispatchMetrics.MIGRATIONS, labels),
        streams(board, labels),
        board.sum(FrontendMetrics.INFLIGHT, labels),
        board.sum(FrontendMetrics.QUEUED, labels),
        board.sum(FrontendMetrics.ADMISSION_WAITING, labels),
        board.distribution(FrontendMetrics.TIME_TO_FIRST_TOKEN, labels),
        board.distribution(FrontendMetrics.INTER_TOKEN_LATENCY, labels),
        board.distribution(FrontendMetrics.INPUT_SEQUENCE, labels),
        board.distribution(FrontendMetrics.CACHED_TOKENS, labels));
  }

  private static double streams(MeterBoard board, Label... labels) {
    var wanted = Arrays.copyOf(labels, labels.length + 1);
    wanted[labels.length] = STREAM;
    return Math.max( // the two are not read at the same moment
        0,
        board.sum(FrontendMetrics.REQUESTS_STARTED, wanted)
            - board.sum(FrontendMetrics.REQUESTS, wanted));
  }

  /**
   * Returns the present figures by name. Rates count from {@code recent}, latencies and the hit
   * rate from {@code earlier}; each is null where nothing was counted, and without a moment to
   * count from.
   */
  Map<String, @Nullable Object> figures(@Nullable Traffic recent, @Nullable Traffic earlier) {
    var figures = new LinkedHashMap<String, @Nullable Object>();
    figures.put("requests_per_second", rate(recent, started, recent == null ? 0 : recent.started));
    figures.put("failed_per_second", rate(recent, failed, recent == null ? 0 : recent.failed));
    figures.put("refused_per_second", rate(recent, refused, recent == null ? 0 : recent.refused));
    figures.put(
        "tokens_per_second", rate(recent, outputTokens, recent == null ? 0 : recent.outputTokens));
    figures.put("inflight", inflight);
    figures.put("streams", streams);
    figures.put("without_token", withoutToken);
    figures.put("waiting", waiting);
    quantiles(figures, "ttft", earlier == null ? null : firstToken.since(earlier.firstToken));
    quantiles(figures, "itl", earlier == null ? null : interToken.since(earlier.interToken));
    figures.put("hit_rate", earlier == null ? null : hitRate(earlier));
    figures.put("requests", started);
    figures.put("failed", failed);
    figures.put("refused", refused);
    figures.put("cancelled", cancelled);
    figures.put("migrations", migrations);
    return figures;
  }

  private @Nullable Double rate(@Nullable Traffic recent, double now, double before) {
    return recent == null || recent.atNanos == atNanos
        ? null
        : (Double) ((now - before) * NANOS_PER_SECOND / (atNanos - recent.atNanos));
  }

  private static void quantiles(
      Map<String, @Nullable Object> figures, String name, @Nullable Distribution values) {
    figures.put(name + "_p50", values == null ? null : values.quantile(0.5));
    figures.put(name + "_p95", values == null ? null : values.quantile(0.95));
    figures.put(name + "_p99", values == null ? null : values.quantile(0.99));
  }

  /** Returns the cached part of prompts, by the workers' reports; null when none has reported. */
  private @Nullable Double hitRate(Traffic earlier) {
    var cached = cachedTokens.since(earlier.cachedTokens);
    double prompts = inputTokens.sum() - earlier.inputTokens.sum();
    return cached.count() == 0 || prompts <= 0
        ? null
        : (Double) Math.min(1, cached.sum() / prompts);
  }
}
