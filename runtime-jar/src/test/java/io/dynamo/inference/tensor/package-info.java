@NullMarked
package io.dynamo.inference.tensor;

import org.jspecify.annotations.NullMarked;
