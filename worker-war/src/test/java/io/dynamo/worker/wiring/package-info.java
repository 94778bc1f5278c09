@NullMarked
package io.dynamo.worker.wiring;

import org.jspecify.annotations.NullMarked;
