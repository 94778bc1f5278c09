package io.dynamo.worker.wiring;

import io.dynamo.concurrent.Deadline;
import io.dynamo.discovery.TransportAddress;
import io.dynamo.worker.WorkerService;
import io.dynamo.worker.control.ModelControls;
import io.dynamo.worker.engine.LoadReport;
import org.jspecify.annotations.Nullable;

/** The worker of one model, from its start to its end. Safe for concurrent use. */
interface WorkerRole {
  /** Starts it, called once; after a failure the caller closes it. */
  void start();

  /** Returns the model name that clients use. */
  String model();

  WorkerService.State state();

  /** Whether it serves and its endpoints are healthy. */
  boolean isReady();

  /** Returns where requests reach the worker; null while it does not serve. */
  @Nullable TransportAddress address();

  LoadReport load();

  boolean isAsleep();

  /** Returns the operator's commands; null for a worker that has none. */
  @Nullable ModelControls controls();

  /**
   * Refuses further commands, lets running requests end until the deadline, and frees everything.
   */
  void stop(Deadline deadline) throws InterruptedException;

  /** Ends everything now. Idempotent. */
  void close();
}
