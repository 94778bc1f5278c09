/**
 * The contract between a worker and its engine: {@link io.dynamo.worker.engine.Engine}. Engines
 * live in packages below; they know nothing of planes.
 */
@NullMarked
package io.dynamo.worker.engine;

import org.jspecify.annotations.NullMarked;
