package io.dynamo.router;

import io.dynamo.discovery.EndpointId;

/** How many requests a router keeps waiting. Safe for concurrent use. */
public interface QueueDepths {
  /** Requests that wait for a worker of {@code endpoint} now. */
  int queued(EndpointId endpoint);
}
