/**
 * The {@code generate} endpoint: checks a request, hands it to the engine, measures its stream.
 * Start at {@link io.dynamo.worker.serve.GenerateEndpoint}.
 */
@NullMarked
package io.dynamo.worker.serve;

import org.jspecify.annotations.NullMarked;
