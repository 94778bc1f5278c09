package io.dynamo.router;

import io.dynamo.discovery.WorkerSet;

/** Reports how many requests wait in the router's queues. Safe for concurrent use. */
public interface QueueDepths {
  /** Returns the number of requests that now wait for one of {@code workers}. */
  int queued(WorkerSet workers);
}
