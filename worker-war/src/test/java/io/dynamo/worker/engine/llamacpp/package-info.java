@NullMarked
package io.dynamo.worker.engine.llamacpp;

import org.jspecify.annotations.NullMarked;
