/**
 * Deadlines, two-level cancellation and the bounded stream. Knows nothing of requests or sockets.
 */
@NullMarked
package io.dynamo.concurrent;

import org.jspecify.annotations.NullMarked;
