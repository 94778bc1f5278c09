/**
 * Requests to workers that take tensors ({@link io.dynamo.inference.tensor.TensorRequest}) and the
 * items of their answers ({@link io.dynamo.inference.tensor.TensorResponse}), as Dynamo has them.
 */
@NullMarked
package io.dynamo.inference.tensor;

import org.jspecify.annotations.NullMarked;
