/**
 * The server of an engine as a child of the worker: started, started again, and ended with it.
 * Start at {@link io.dynamo.worker.process.EngineProcess}. Knows nothing of what the server does.
 */
@NullMarked
package io.dynamo.worker.process;

import org.jspecify.annotations.NullMarked;
