@NullMarked
package io.dynamo.worker.relocation;

import org.jspecify.annotations.NullMarked;
