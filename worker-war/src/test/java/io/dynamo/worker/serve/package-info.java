@NullMarked
package io.dynamo.worker.serve;

import org.jspecify.annotations.NullMarked;
