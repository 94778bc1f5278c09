@NullMarked
package io.dynamo.worker.engine.remote;

import org.jspecify.annotations.NullMarked;
