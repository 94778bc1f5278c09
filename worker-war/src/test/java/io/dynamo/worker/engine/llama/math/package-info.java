@NullMarked
package io.dynamo.worker.engine.llama.math;

import org.jspecify.annotations.NullMarked;
