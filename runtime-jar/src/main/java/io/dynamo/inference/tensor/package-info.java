/**
 * What workers of models that take tensors are asked ({@link
 * io.dynamo.inference.tensor.TensorRequest}) and answer ({@link
 * io.dynamo.inference.tensor.TensorResponse}), in the form of Dynamo's.
 */
@NullMarked
package io.dynamo.inference.tensor;

import org.jspecify.annotations.NullMarked;
