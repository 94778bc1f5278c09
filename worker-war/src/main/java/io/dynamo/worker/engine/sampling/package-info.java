/**
 * What a request asks of an engine with a model, all of it decided: how long the text may get,
 * where it ends, how its tokens are drawn. Knows no engine.
 */
@NullMarked
package io.dynamo.worker.engine.sampling;

import org.jspecify.annotations.NullMarked;
