package io.dynamo.router;

import io.dynamo.discovery.EndpointId;
import io.dynamo.discovery.Instance;

/** What model cards say, as far as it is known now. Safe for concurrent use; never blocks. */
public interface WorkerCards {
  /** What they say of one worker. */
  WorkerTraits traits(Instance worker);

  /** What they say of all workers of {@code endpoint}. */
  EndpointProfile profile(EndpointId endpoint);
}
