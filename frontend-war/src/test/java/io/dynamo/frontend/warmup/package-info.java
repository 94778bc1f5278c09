@NullMarked
package io.dynamo.frontend.warmup;

import org.jspecify.annotations.NullMarked;
