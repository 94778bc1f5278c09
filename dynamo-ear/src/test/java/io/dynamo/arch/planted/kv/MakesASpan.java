package io.dynamo.arch.planted.kv;

import io.opentelemetry.api.trace.Span;

/** OpenTelemetry outside its package. */
public record MakesASpan(Span span) {}
