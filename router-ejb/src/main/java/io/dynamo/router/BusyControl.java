package io.dynamo.router;

import io.dynamo.config.RouterSettings;
import io.dynamo.discovery.EndpointId;

/**
 * When the workers of an endpoint count as busy, and whether they are. A busy worker gets no more
 * requests until it is not. Safe for concurrent use; never blocks.
 */
public interface BusyControl {
  /** The thresholds of {@code endpoint}: those that were set here last, or the configured ones. */
  RouterSettings.Busy thresholds(EndpointId endpoint);

  /** Replaces the thresholds of {@code endpoint}, for as long as this router lives. */
  void setThresholds(EndpointId endpoint, RouterSettings.Busy thresholds);

  /** Whether there are live workers and every one of them is busy. */
  boolean allBusy(EndpointId endpoint);
}
