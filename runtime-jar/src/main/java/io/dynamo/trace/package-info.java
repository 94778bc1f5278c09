/**
 * Where a request's time goes, across processes: spans and the context that ties them together.
 * Start at {@link io.dynamo.trace.Tracing}. Knows nothing of requests; what exports spans is in
 * {@code otlp}.
 */
@NullMarked
package io.dynamo.trace;

import org.jspecify.annotations.NullMarked;
