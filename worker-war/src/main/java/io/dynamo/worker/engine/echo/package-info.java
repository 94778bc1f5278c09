/**
 * An engine that gives back what it is asked: {@link io.dynamo.worker.engine.echo.EchoEngine}.
 * Knows nothing of planes.
 */
@NullMarked
package io.dynamo.worker.engine.echo;

import org.jspecify.annotations.NullMarked;
