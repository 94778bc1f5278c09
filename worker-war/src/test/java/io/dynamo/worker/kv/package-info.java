@NullMarked
package io.dynamo.worker.kv;

import org.jspecify.annotations.NullMarked;
