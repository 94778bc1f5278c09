/** Answers health probes for the worker. Knows the role only through {@code wiring}. */
@NullMarked
package io.dynamo.worker.health;

import org.jspecify.annotations.NullMarked;
