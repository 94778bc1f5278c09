package io.dynamo.runtime.wiring;

import io.dynamo.config.Settings;
import io.dynamo.metrics.Metrics;
import io.dynamo.metrics.PrometheusText;
import io.dynamo.nats.NatsLink;
import io.dynamo.pipeline.EventLoops;
import io.dynamo.request.EndpointClient;
import io.dynamo.request.EndpointServer;
import io.dynamo.runtime.ClosingStack;
import io.dynamo.runtime.status.SystemStatus;
import io.dynamo.transfer.HostMemory;
import io.dynamo.transfer.RegionExchange;
import org.jspecify.annotations.Nullable;

/** Opens the parts that use sockets or native code. */
@FunctionalInterface
interface PlaneFactory {
  /**
   * Both sides of the request plane, the memory of blocks, and their exchange with others.
   *
   * @param loops for all sockets
   */
  record Planes(
      EventLoops loops,
      EndpointClient client,
      EndpointServer server,
      HostMemory memory,
      RegionExchange exchange) {}

  /**
   * The places where the parts publish metrics and health.
   *
   * @param text the metrics under their exact names
   * @param nats the connection to NATS servers; null when no plane uses it
   */
  record Outlets(
      Metrics metrics, PrometheusText text, SystemStatus status, @Nullable NatsLink nats) {}

  /** Opens the planes. Each part is pushed on {@code opened} as soon as it exists. */
  Planes open(Settings settings, Outlets outlets, ClosingStack opened);
}
