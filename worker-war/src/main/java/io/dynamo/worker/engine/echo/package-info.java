/**
 * An engine that returns its prompt: {@link io.dynamo.worker.engine.echo.EchoEngine}. Knows nothing
 * of planes.
 */
@NullMarked
package io.dynamo.worker.engine.echo;

import org.jspecify.annotations.NullMarked;
