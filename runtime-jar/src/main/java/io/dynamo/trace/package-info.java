/**
 * Tracing across processes: spans and the context that connects them. Start at {@link
 * io.dynamo.trace.Tracing}. Knows nothing of requests; the exporter is in {@code otlp}.
 */
@NullMarked
package io.dynamo.trace;

import org.jspecify.annotations.NullMarked;
