@NullMarked
package io.dynamo.worker.engine.sglang;

import org.jspecify.annotations.NullMarked;
