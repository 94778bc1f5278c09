package io.dynamo.trace.otlp;

import io.dynamo.trace.Span;
import io.dynamo.trace.TraceContext;
import io.opentelemetry.api.trace.StatusCode;
import io.opentelemetry.api.trace.TraceState;
import org.jspecify.annotations.Nullable;

/** A span of OpenTelemetry's SDK. */
final class OtlpSpan implements Span {
  private final io.opentelemetry.api.trace.Span span;

  OtlpSpan(io.opentelemetry.api.trace.Span span) {
    this.span = span;
  }

  @Override
  public @Nullable TraceContext context() {
    var context = span.getSpanContext();
    if (!context.isValid()) {
      return null; // tracing is closed
    }
    return new TraceContext(
        context.getTraceId(),
        context.getSpanId(),
        context.isSampled(),
        text(context.getTraceState()));
  }

  private static @Nullable String text(TraceState state) {
    if (state.isEmpty()) {
      return null;
    }
    var text = new StringBuilder();
    state.forEach(
        (key, value) ->
            text.append(text.isEmpty() ? "" : ",").append(key).append('=').append(value));
    return text.toString();
  }

  @Override
  public Span put(String key, String value) {
    span.setAttribute(key, value);
    return this;
  }

  @Override
  public Span put(String key, long value) {
    span.setAttribute(key, value);
    return this;
  }

  @Override
  public void event(String name) {
    span.addEvent(name);
  }

  @Override
  public void fail(String what) {
    span.setAttribute("error.type", what);
    span.setStatus(StatusCode.ERROR);
  }

  @Override
  public void end() {
    span.end();
  }
}
