package io.dynamo.runtime.wiring;

import io.dynamo.config.Settings;
import io.dynamo.metrics.Metrics;
import io.dynamo.request.EndpointClient;
import io.dynamo.request.EndpointServer;
import io.dynamo.runtime.ClosingStack;
import io.dynamo.transfer.HostMemory;

/** Opens what has sockets or native code behind it. */
@FunctionalInterface
interface PlaneFactory {
  /** Both sides of the request plane, and the memory that blocks live in. */
  record Planes(EndpointClient client, EndpointServer server, HostMemory memory) {}

  /** Each part goes on {@code opened} as soon as it exists. */
  Planes open(Settings settings, Metrics metrics, ClosingStack opened);
}
