package io.dynamo.frontend.dispatch;

import io.dynamo.frontend.catalog.ServedModel;
import io.dynamo.inference.tensor.TensorRequest;
import io.dynamo.inference.tensor.TensorResponse;
import io.dynamo.request.RequestContext;

/** Asks workers that take tensors. Safe for concurrent use. */
public interface Tensors {
  /**
   * Asks a worker; returns before it answers. Each tensor of its answer has as many elements as its
   * shape says.
   *
   * @throws io.dynamo.error.DynamoException when there is no worker
   */
  AnswerItems<TensorResponse> open(
      ServedModel model, TensorRequest request, RequestContext context);
}
