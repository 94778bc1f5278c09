/**
 * The {@code generate} endpoint: checks a request, passes it to the engine, and watches its stream.
 * Start at {@link io.dynamo.worker.serve.GenerateEndpoint}.
 */
@NullMarked
package io.dynamo.worker.serve;

import org.jspecify.annotations.NullMarked;
