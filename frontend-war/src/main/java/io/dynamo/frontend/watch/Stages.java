package io.dynamo.frontend.watch;

import io.dynamo.metrics.Label;
import io.dynamo.metrics.Metrics;
import io.dynamo.trace.Span;
import io.dynamo.trace.TraceContext;
import io.dynamo.trace.Tracing;
import java.util.EnumMap;
import java.util.Map;
import java.util.Objects;
import java.util.concurrent.atomic.AtomicBoolean;
import org.jspecify.annotations.Nullable;

/**
 * Measures stages. Where nobody traces or records, a stage costs two readings of the clock and its
 * meters. Safe for concurrent use.
 */
public final class Stages {
  private static final double NANOS_PER_SECOND = 1e9;
  private static final double NANOS_PER_MILLI = 1e6;
  private static final double NANOS_PER_MICRO = 1e3;

  /** The meters of a stage. */
  private record Meters(Metrics.@Nullable Level requests, Metrics.Timer duration) {}

  private final Map<Stage, Meters> meters = new EnumMap<>(Stage.class);
  private final Metrics.Timer tokenizerMillis;
  private final Metrics.Timer detokenizerMillis;
  private final Metrics.Counter detokenizeMicros;
  private final Metrics.Counter recordDetokenization;
  private final Tracing tracing;

  public Stages(Metrics metrics, Tracing tracing) {
    this.tracing = tracing;
    for (var stage : Stage.values()) {
      meters.put(
          stage,
          switch (stage) {
            case PREPROCESS, ROUTE ->
                new Meters(level(metrics, stage), timer(metrics, stage.label()));
            case DISPATCH ->
                new Meters(level(metrics, stage), timer(metrics, "transport_roundtrip"));
            case TEMPLATE -> new Meters(null, metrics.timer(StageMetrics.TEMPLATE));
            case TOKENIZE -> new Meters(null, metrics.timer(StageMetrics.TOKENIZE));
          });
    }
    tokenizerMillis = latency(metrics, "tokenize");
    detokenizerMillis = latency(metrics, "detokenize");
    detokenizeMicros = metrics.counter(StageMetrics.DETOKENIZE_MICROS);
    recordDetokenization = metrics.counter(StageMetrics.DETOKENIZED);
  }

  private static Metrics.Level level(Metrics metrics, Stage stage) {
    return metrics.level(
        StageMetrics.REQUESTS,
        new Label("stage", stage.label()),
        new Label("phase", stage.phase()));
  }

  private static Metrics.Timer timer(Metrics metrics, String stage) {
    return metrics.timer(StageMetrics.DURATION, new Label("stage", stage));
  }

  private static Metrics.Timer latency(Metrics metrics, String operation) {
    return metrics.timer(StageMetrics.TOKENIZER_LATENCY, new Label("operation", operation));
  }

  Tracing tracing() {
    return tracing;
  }

  /** The parent of a request's spans, from its headers; null when tracing is off. */
  public @Nullable TraceContext parentIn(Map<String, String> headers) {
    return tracing.isOn() ? TraceContext.of(headers) : null;
  }

  /** Begins a span of its own, to be ended by the caller. */
  public Span span(
      String name, Tracing.Kind kind, @Nullable TraceContext parent, Tracing.Start start) {
    return tracing.isOn() ? tracing.start(name, kind, parent, start) : Span.NONE;
  }

  /** Begins a stage of the request {@code requestId}. */
  public Measurement begin(Stage stage, String requestId, @Nullable TraceContext parent) {
    return new Measurement(stage, requestId, parent);
  }

  /**
   * Records the time that turning a request's tokens into text took.
   *
   * @param nanos for all tokens together
   */
  public void recordDetokenization(long nanos, int tokens) {
    if (tokens > 0) {
      detokenizeMicros.add(Math.round(nanos / NANOS_PER_MICRO));
      recordDetokenization.add(tokens);
      detokenizerMillis.record(nanos / NANOS_PER_MILLI / tokens, 1);
    }
  }

  /** The measurement of a stage under way. Ended once, by any thread. */
  public final class Measurement implements AutoCloseable {
    private final Stage stage;
    private final String requestId;
    private final long begin = System.nanoTime();
    private final @Nullable StageEvent event = StageEvent.beginIfEnabled();
    private final Span span;
    private final AtomicBoolean over = new AtomicBoolean();

    private Measurement(Stage stage, String requestId, @Nullable TraceContext parent) {
      this.stage = stage;
      this.requestId = requestId;
      this.span = // a leg's span covers its dispatch
          parent == null || stage == Stage.DISPATCH
              ? Span.NONE
              : tracing.start(stage.label(), parent);
      count(1);
    }

    private Meters meters() {
      return Objects.requireNonNull(meters.get(stage));
    }

    private void count(int more) {
      var requests = meters().requests;
      if (requests != null) {
        requests.add(more);
      }
    }

    /** The stage's span, for attributes and child spans. */
    public Span span() {
      return span;
    }

    /** Ends the stage without recording its duration. */
    public void abandon() {
      if (over.compareAndSet(false, true)) {
        count(-1);
        span.end();
      }
    }

    @Override
    public void close() {
      if (!over.compareAndSet(false, true)) {
        return;
      }
      count(-1);
      long nanos = System.nanoTime() - begin;
      meters().duration.record(nanos / NANOS_PER_SECOND, 1);
      if (stage == Stage.TOKENIZE) {
        tokenizerMillis.record(nanos / NANOS_PER_MILLI, 1);
      }
      if (event != null) {
        event.end(stage.label(), requestId);
      }
      span.end();
    }
  }
}
