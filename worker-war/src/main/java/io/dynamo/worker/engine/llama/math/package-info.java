/**
 * The arithmetic of a forward pass, in two forms that give the same bits: start at {@link
 * io.dynamo.worker.engine.llama.math.Kernel}. Knows nothing of models, blocks or requests.
 */
@NullMarked
package io.dynamo.worker.engine.llama.math;

import org.jspecify.annotations.NullMarked;
