package io.dynamo.testing;

import io.dynamo.runtime.health.SystemHealth;
import io.dynamo.runtime.status.SystemStatus;
import java.util.Map;

/** The status of a process, without a server that publishes it. */
public final class TestStatus {
  private TestStatus() {}

  /** By the default settings; nothing ever rings. */
  public static SystemStatus idle() {
    return with(Map.of(), new ManualAlarms(ManualClock.now()), ManualClock.now());
  }

  /** By the defaults but for {@code settings}; probes run on the thread that makes alarms ring. */
  public static SystemStatus with(
      Map<String, String> settings, ManualAlarms alarms, ManualClock clock) {
    return new SystemStatus(
        new SystemHealth(
            TestSettings.with(settings).status(), alarms, Runnable::run, clock.nanoTime()));
  }
}
