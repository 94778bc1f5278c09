/**
 * The parameters of one generation with all defaults resolved: how long the text may get, where it
 * ends, how its tokens are drawn. Knows no engine.
 */
@NullMarked
package io.dynamo.worker.engine.sampling;

import org.jspecify.annotations.NullMarked;
