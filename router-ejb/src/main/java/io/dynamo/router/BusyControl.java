package io.dynamo.router;

import io.dynamo.config.router.RouterSettings;
import io.dynamo.discovery.WorkerSet;

/**
 * Sets and reads the thresholds above which the workers of a model count as busy, and reports
 * whether they are. A busy worker gets no more requests until it is below them. Safe for concurrent
 * use; never blocks.
 */
public interface BusyControl {
  /**
   * Returns the thresholds of {@code workers}: those that were set here last, or the configured
   * ones.
   */
  RouterSettings.Busy thresholds(WorkerSet workers);

  /** Replaces the thresholds of {@code workers}, for as long as this router lives. */
  void setThresholds(WorkerSet workers, RouterSettings.Busy thresholds);

  /** Whether {@code workers} has live workers and every one of them is busy. */
  boolean allBusy(WorkerSet workers);
}
