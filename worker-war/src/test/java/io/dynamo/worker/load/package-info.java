@NullMarked
package io.dynamo.worker.load;

import org.jspecify.annotations.NullMarked;
