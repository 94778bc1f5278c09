package io.dynamo.config.watch;

import java.time.Duration;
import java.util.List;

/**
 * The settings of the status server and of the health of endpoints. Keys: {@code dynamo.system.*},
 * {@code dynamo.health.*}.
 *
 * @param host IP literal to bind
 * @param port −1 starts no status server; 0 lets the system choose
 * @param healthPath path of the health route
 * @param livePath second path of the same route
 * @param starting health that a process without health targets reports
 * @param endpoints endpoints that alone decide whether the process is ready; empty lets health
 *     targets decide
 * @param selfHost whether files of our model cards are served
 * @param loraRoutes whether {@code /v1/loras} exists
 * @param canaries whether silent endpoints are probed
 * @param canaryWait silence before a probe
 * @param canaryTimeout time from a probe to its first item
 * @param withdraw whether an instance whose probe failed leaves discovery until one succeeds
 */
public record StatusSettings(
    String host,
    int port,
    String healthPath,
    String livePath,
    Starting starting,
    List<String> endpoints,
    boolean selfHost,
    boolean loraRoutes,
    boolean canaries,
    Duration canaryWait,
    Duration canaryTimeout,
    boolean withdraw) {
  /** The health that a process reports before anything else decides. */
  public enum Starting {
    READY,
    NOTREADY
  }

  public StatusSettings {
    endpoints = List.copyOf(endpoints);
  }

  /** Whether a status server is to be started. */
  public boolean isOn() {
    return port >= 0;
  }
}
