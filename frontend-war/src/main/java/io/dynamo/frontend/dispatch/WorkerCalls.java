package io.dynamo.frontend.dispatch;

import io.dynamo.discovery.EndpointId;
import io.dynamo.discovery.Instance;
import io.dynamo.discovery.InstanceId;
import io.dynamo.inference.EngineOutput;
import io.dynamo.inference.GenerateRequest;
import io.dynamo.request.RequestContext;
import java.util.concurrent.Flow;

/** Calls workers on the request plane, and sets failed ones aside. */
public interface WorkerCalls {
  /** Sends the request when the answer is subscribed to. */
  Flow.Publisher<EngineOutput> call(
      Instance instance, GenerateRequest request, RequestContext context);

  /** Sets a worker aside for a while after a failure. */
  void setAside(EndpointId endpoint, InstanceId worker);
}
