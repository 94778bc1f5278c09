/**
 * Where the worker meets the container: started with its web module, stopped with the runtime.
 * Start at {@link io.dynamo.worker.wiring.WorkerListener}.
 */
@NullMarked
package io.dynamo.worker.wiring;

import org.jspecify.annotations.NullMarked;
