/**
 * Records each request: meters, spans and flight recordings of its stages, and its line in the log.
 * Start at {@link io.dynamo.frontend.watch.RequestWatch}. Knows nothing of HTTP, bodies or routing.
 */
@NullMarked
package io.dynamo.frontend.watch;

import org.jspecify.annotations.NullMarked;
