/**
 * The status server of a process, Dynamo's system port: health, metrics, the engine's own routes,
 * adapters and the files of model cards, each a registry that roles write into. Start at {@link
 * io.dynamo.runtime.status.SystemStatus}; {@link io.dynamo.runtime.status.StatusServer} answers.
 * Knows nothing of engines and roles.
 */
@NullMarked
package io.dynamo.runtime.status;

import org.jspecify.annotations.NullMarked;
