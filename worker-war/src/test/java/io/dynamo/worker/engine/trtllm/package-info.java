@NullMarked
package io.dynamo.worker.engine.trtllm;

import org.jspecify.annotations.NullMarked;
