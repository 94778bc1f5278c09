/** Spans by OpenTelemetry's SDK, exported as OTLP over HTTP. The only package that knows it. */
@NullMarked
package io.dynamo.trace.otlp;

import org.jspecify.annotations.NullMarked;
