/**
 * What a worker drives: the {@link io.dynamo.worker.engine.Engine} contract. Engines live in
 * packages below; they know nothing of planes.
 */
@NullMarked
package io.dynamo.worker.engine;

import org.jspecify.annotations.NullMarked;
