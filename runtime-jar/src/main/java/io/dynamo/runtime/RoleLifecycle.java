package io.dynamo.runtime;

import io.dynamo.concurrent.Deadline;

/** A role that runs on the runtime and must stop before the planes close. */
public interface RoleLifecycle {
  /** Returns the role's name, for logs. */
  String name();

  /**
   * Accepts no new work, waits for running work until {@code deadline}, ends the rest with typed
   * errors and leaves discovery. Called once.
   */
  void stop(Deadline deadline) throws InterruptedException;
}
