package io.dynamo.frontend.dispatch;

import io.dynamo.discovery.EndpointId;
import io.dynamo.discovery.Instance;
import io.dynamo.discovery.InstanceId;
import io.dynamo.inference.tensor.TensorRequest;
import io.dynamo.inference.tensor.TensorResponse;
import io.dynamo.request.RequestContext;
import java.util.concurrent.Flow;

/** Calls workers that take tensors on the request plane, and sets failed ones aside. */
public interface TensorCalls {
  /** Sends the request when the answer is subscribed to. */
  Flow.Publisher<TensorResponse> call(
      Instance instance, TensorRequest request, RequestContext context);

  /** Sets a worker aside for a while after a failure. */
  void setAside(EndpointId endpoint, InstanceId worker);
}
