@NullMarked
package io.dynamo.worker.engine.llama.weights;

import org.jspecify.annotations.NullMarked;
