@NullMarked
package io.dynamo.worker.engine.llama;

import org.jspecify.annotations.NullMarked;
