package io.dynamo.frontend.dispatch;

import io.dynamo.discovery.EndpointId;
import io.dynamo.discovery.Instance;
import io.dynamo.discovery.InstanceId;
import io.dynamo.inference.BodyTask;
import io.dynamo.inference.TaskOutput;
import io.dynamo.request.RequestContext;
import java.util.concurrent.Flow;

/** Calls workers that take whole bodies on the request plane, and sets failed ones aside. */
public interface TaskCalls {
  /** Sends the request when the answer is subscribed to; the answer has one item. */
  Flow.Publisher<TaskOutput> call(Instance instance, BodyTask request, RequestContext context);

  /** Sets a worker aside for a while after a failure. */
  void setAside(EndpointId endpoint, InstanceId worker);
}
