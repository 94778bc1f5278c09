@NullMarked
package io.dynamo.worker.engine.llama.sample;

import org.jspecify.annotations.NullMarked;
