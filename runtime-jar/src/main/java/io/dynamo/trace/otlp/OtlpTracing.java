package io.dynamo.trace.otlp;

import io.dynamo.config.watch.TraceSettings;
import io.dynamo.trace.Span;
import io.dynamo.trace.TraceContext;
import io.dynamo.trace.Tracing;
import io.opentelemetry.api.common.AttributeKey;
import io.opentelemetry.api.common.Attributes;
import io.opentelemetry.api.trace.SpanContext;
import io.opentelemetry.api.trace.SpanKind;
import io.opentelemetry.api.trace.TraceFlags;
import io.opentelemetry.api.trace.TraceState;
import io.opentelemetry.api.trace.Tracer;
import io.opentelemetry.api.trace.TracerProvider;
import io.opentelemetry.api.trace.propagation.W3CTraceContextPropagator;
import io.opentelemetry.context.Context;
import io.opentelemetry.context.propagation.TextMapGetter;
import io.opentelemetry.exporter.otlp.http.trace.OtlpHttpSpanExporter;
import io.opentelemetry.sdk.resources.Resource;
import io.opentelemetry.sdk.trace.SdkTracerProvider;
import io.opentelemetry.sdk.trace.export.BatchSpanProcessor;
import io.opentelemetry.sdk.trace.samplers.Sampler;
import java.time.Duration;
import java.util.List;
import java.util.concurrent.ExecutorService;
import java.util.concurrent.Executors;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.atomic.AtomicReference;
import org.jspecify.annotations.Nullable;

/**
 * Tracing that exports spans in batches. Spans that a collector cannot take are dropped from a
 * bounded queue, at no cost to requests. Safe for concurrent use; {@link #close} blocks for a few
 * seconds at most.
 */
public final class OtlpTracing implements Tracing {
  private static final Duration BATCH_DELAY = Duration.ofSeconds(1);
  private static final int QUEUE = 4096; // spans
  private static final int BATCH = 512; // spans
  private static final long PATIENCE_SECONDS = 3; // of the last export
  private static final String SCOPE = "io.dynamo";

  private final ExecutorService exports =
      Executors.newThreadPerTaskExecutor(Thread.ofVirtual().name("span-export-", 0).factory());
  private final AtomicReference<@Nullable SdkTracerProvider> provider = new AtomicReference<>();
  private volatile Tracer tracer;

  public OtlpTracing(TraceSettings settings) {
    OtlpLogs.install();
    var exporter =
        OtlpHttpSpanExporter.builder()
            .setEndpoint(settings.endpoint().toString())
            .setTimeout(settings.timeout())
            .setHeaders(settings::headers)
            .setExecutorService(exports)
            .setServiceClassLoader(OtlpTracing.class.getClassLoader())
            .build();
    var resource =
        Resource.getDefault()
            .merge(
                Resource.create(
                    Attributes.of(AttributeKey.stringKey("service.name"), settings.serviceName())));
    var built =
        SdkTracerProvider.builder()
            .setResource(resource)
            .setSampler(Sampler.parentBased(Sampler.traceIdRatioBased(settings.sampleRatio())))
            .addSpanProcessor(
                BatchSpanProcessor.builder(exporter)
                    .setScheduleDelay(BATCH_DELAY)
                    .setMaxQueueSize(QUEUE)
                    .setMaxExportBatchSize(BATCH)
                    .setExporterTimeout(settings.timeout())
                    .build())
            .build();
    tracer = built.get(SCOPE);
    provider.set(built);
  }

  @Override
  public boolean isOn() {
    return true;
  }

  @Override
  public Span start(String name, Kind kind, @Nullable TraceContext parent, Start start) {
    var builder =
        tracer
            .spanBuilder(name)
            .setSpanKind(
                switch (kind) {
                  case SERVER -> SpanKind.SERVER;
                  case CLIENT -> SpanKind.CLIENT;
                  case INTERNAL -> SpanKind.INTERNAL;
                });
    if (parent == null) {
      builder.setNoParent();
    } else {
      builder.setParent(
          Context.root().with(io.opentelemetry.api.trace.Span.wrap(contextOf(parent))));
    }
    var earlier = start.after();
    if (earlier != null) {
      builder.addLink(contextOf(earlier));
    }
    if (start.nanosAgo() > 0) {
      long now = TimeUnit.MILLISECONDS.toNanos(System.currentTimeMillis());
      builder.setStartTimestamp(now - start.nanosAgo(), TimeUnit.NANOSECONDS);
    }
    return new OtlpSpan(builder.startSpan());
  }

  private static SpanContext contextOf(TraceContext context) {
    return SpanContext.createFromRemoteParent(
        context.traceId(),
        context.spanId(),
        context.isSampled() ? TraceFlags.getSampled() : TraceFlags.getDefault(),
        stateOf(context));
  }

  /** Parses the state as the standard's own propagator does. */
  private static TraceState stateOf(TraceContext context) {
    if (context.state() == null) {
      return TraceState.getDefault();
    }
    var read =
        W3CTraceContextPropagator.getInstance().extract(Context.root(), context, new Headers());
    return io.opentelemetry.api.trace.Span.fromContext(read).getSpanContext().getTraceState();
  }

  /** Reads a context as if it had come in headers. */
  private static final class Headers implements TextMapGetter<TraceContext> {
    @Override
    public Iterable<String> keys(TraceContext carrier) {
      return List.of(TraceContext.PARENT_HEADER, TraceContext.STATE_HEADER);
    }

    @Override
    public @Nullable String get(@Nullable TraceContext carrier, String key) {
      if (carrier == null) {
        return null;
      }
      return key.equals(TraceContext.PARENT_HEADER) ? carrier.traceparent() : carrier.state();
    }
  }

  /**
   * Exports what is queued, as far as a few seconds allow; later spans are not recorded. It drops
   * the exporter: a client of the JDK that was stopped during an export is held by the JDK until
   * nobody refers to it, and holds the class loader of this application by the stack of its failed
   * export.
   */
  @Override
  public void close() {
    var open = provider.getAndSet(null);
    if (open == null) {
      return;
    }
    tracer = TracerProvider.noop().get(SCOPE);
    var _ = open.shutdown().join(PATIENCE_SECONDS, TimeUnit.SECONDS);
    var _ = exports.shutdownNow(); // a hanging export is given up, with the spans queued behind it
  }
}
