/**
 * Deadlines, two-level cancellation, the bounded stream, and tasks that run one at a time. Knows
 * nothing of requests or sockets.
 */
@NullMarked
package io.dynamo.concurrent;

import org.jspecify.annotations.NullMarked;
