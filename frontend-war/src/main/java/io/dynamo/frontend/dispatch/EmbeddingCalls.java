package io.dynamo.frontend.dispatch;

import io.dynamo.discovery.EndpointId;
import io.dynamo.discovery.Instance;
import io.dynamo.discovery.InstanceId;
import io.dynamo.inference.EmbeddingOutput;
import io.dynamo.inference.EmbeddingRequest;
import io.dynamo.request.RequestContext;
import java.util.concurrent.Flow;

/** Calls embedding workers on the request plane, and sets failed ones aside. */
public interface EmbeddingCalls {
  /** Sends the request when the answer is subscribed to; the answer has one item. */
  Flow.Publisher<EmbeddingOutput> call(
      Instance instance, EmbeddingRequest request, RequestContext context);

  /** Sets a worker aside for a while after a failure. */
  void setAside(EndpointId endpoint, InstanceId worker);
}
