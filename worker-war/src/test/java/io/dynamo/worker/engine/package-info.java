@NullMarked
package io.dynamo.worker.engine;

import org.jspecify.annotations.NullMarked;
