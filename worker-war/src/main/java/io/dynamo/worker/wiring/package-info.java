/**
 * Connects the worker to the container: it starts with its web module and stops with the runtime.
 * Start at {@link io.dynamo.worker.wiring.WorkerListener}.
 */
@NullMarked
package io.dynamo.worker.wiring;

import org.jspecify.annotations.NullMarked;
