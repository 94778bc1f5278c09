package io.dynamo.router;

import io.dynamo.discovery.WorkerSet;

/** How many requests a router keeps waiting. Safe for concurrent use. */
public interface QueueDepths {
  /** Requests that wait for one of {@code workers} now. */
  int queued(WorkerSet workers);
}
