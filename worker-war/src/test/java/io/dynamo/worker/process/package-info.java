@NullMarked
package io.dynamo.worker.process;

import org.jspecify.annotations.NullMarked;
