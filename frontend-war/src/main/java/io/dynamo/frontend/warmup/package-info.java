/**
 * Runs synthetic requests through the frontend before it reports ready, so that the JVM has
 * compiled their way when clients come.
 */
@NullMarked
package io.dynamo.frontend.warmup;

import org.jspecify.annotations.NullMarked;
