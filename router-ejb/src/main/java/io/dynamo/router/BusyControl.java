package io.dynamo.router;

import io.dynamo.config.router.RouterSettings;
import io.dynamo.discovery.WorkerSet;

/**
 * When the workers of a model count as busy, and whether they are. A busy worker gets no more
 * requests until it is not. Safe for concurrent use; never blocks.
 */
public interface BusyControl {
  /** The thresholds of {@code workers}: those that were set here last, or the configured ones. */
  RouterSettings.Busy thresholds(WorkerSet workers);

  /** Replaces the thresholds of {@code workers}, for as long as this router lives. */
  void setThresholds(WorkerSet workers, RouterSettings.Busy thresholds);

  /** Whether there are live ones and every one of them is busy. */
  boolean allBusy(WorkerSet workers);
}
