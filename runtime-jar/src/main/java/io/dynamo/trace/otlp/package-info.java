/**
 * Tracing by OpenTelemetry's SDK, exported as OTLP over HTTP. The only package that uses the SDK.
 */
@NullMarked
package io.dynamo.trace.otlp;

import org.jspecify.annotations.NullMarked;
