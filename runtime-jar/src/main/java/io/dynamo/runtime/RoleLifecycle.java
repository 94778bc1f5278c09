package io.dynamo.runtime;

import io.dynamo.concurrent.Deadline;

/** A role that runs on the runtime and must stop before the planes close. */
public interface RoleLifecycle {
  /** For logs. */
  String name();

  /**
   * Takes no new work, waits for what is running until {@code deadline}, ends the rest with typed
   * errors and leaves discovery. Called once.
   */
  void stop(Deadline deadline) throws InterruptedException;
}
