@NullMarked
package io.dynamo.worker.control;

import org.jspecify.annotations.NullMarked;
