@NullMarked
package io.dynamo.worker.engine.vllm;

import org.jspecify.annotations.NullMarked;
