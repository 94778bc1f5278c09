/**
 * The commands of operators to a worker: sleep, caches, adapters. Start at {@link
 * io.dynamo.worker.control.ModelControls}, which runs them; {@link
 * io.dynamo.worker.control.EngineCommands} offers them on the status server, {@link
 * io.dynamo.worker.control.ControlEndpoints} on the request plane.
 */
@NullMarked
package io.dynamo.worker.control;

import org.jspecify.annotations.NullMarked;
