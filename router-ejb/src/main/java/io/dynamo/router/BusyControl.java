package io.dynamo.router;

import io.dynamo.config.router.RouterSettings;
import io.dynamo.discovery.WorkerSet;
import java.util.function.UnaryOperator;

/**
 * Sets and reads the thresholds above which the workers of a model count as busy, and reports
 * whether they are. A busy worker gets no more requests until it is below them. Safe for concurrent
 * use.
 */
public interface BusyControl {
  /**
   * Returns the thresholds of {@code workers}: those that were set here last, or the configured
   * ones.
   */
  RouterSettings.Busy thresholds(WorkerSet workers);

  /**
   * Changes the thresholds of {@code workers}, here and at all routers of the cluster, for as long
   * as one of them lives. Waits for the store of the cluster.
   *
   * @param change applied to the thresholds that hold in the cluster; repeated when others change
   *     them at the same time
   * @return the thresholds that hold now
   * @throws java.io.UncheckedIOException when the store does not take the change
   */
  RouterSettings.Busy changeThresholds(
      WorkerSet workers, UnaryOperator<RouterSettings.Busy> change);

  /** Whether {@code workers} has live workers and every one of them is busy. */
  boolean allBusy(WorkerSet workers);
}
