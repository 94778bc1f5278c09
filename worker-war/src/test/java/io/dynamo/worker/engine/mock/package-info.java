@NullMarked
package io.dynamo.worker.engine.mock;

import org.jspecify.annotations.NullMarked;
