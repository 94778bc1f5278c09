package io.dynamo.cli.cluster;

import java.nio.file.Path;
import java.time.Duration;
import java.util.List;
import java.util.Map;

/**
 * One process of a cluster.
 *
 * @param folder holds its log and its state
 * @param environment the whole environment of the process
 * @param address shown to the operator
 * @param probes answered in order; it serves when none has a problem
 * @param grace how long it may take to end before it is killed
 */
record PartPlan(
    String name,
    Path folder,
    List<String> command,
    Map<String, String> environment,
    String address,
    List<Probe> probes,
    Duration grace) {
  PartPlan {
    command = List.copyOf(command);
    environment = Map.copyOf(environment);
    probes = List.copyOf(probes);
  }
}
