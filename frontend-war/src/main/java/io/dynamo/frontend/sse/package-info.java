/**
 * Streams to HTTP clients: a bounded inbox that the writer's own thread drains, frames in one write
 * per wake-up, and detection of clients that hang up. Start at {@link
 * io.dynamo.frontend.sse.SseWriter}. Knows nothing of models or of the format of any API.
 */
@NullMarked
package io.dynamo.frontend.sse;

import org.jspecify.annotations.NullMarked;
