package io.dynamo.router.endpoint;

import io.dynamo.router.ingest.Replicas;
import io.dynamo.router.load.ActiveSequences;
import io.dynamo.router.load.ReportedLoads;
import org.jspecify.annotations.Nullable;

/**
 * The load of one endpoint's ranks, as booked here, as booked by other routers, and as reported.
 *
 * @param active the load booked by this router and, where load is shared, by others
 * @param replicas exchanges bookings with other routers; null where load is not shared
 * @param reported the load reported by the workers
 * @param reports starts to receive the workers' reports
 */
record EndpointLoads(
    ActiveSequences active,
    @Nullable Replicas replicas,
    ReportedLoads reported,
    ReportSubscription reports)
    implements AutoCloseable {
  @Override
  public void close() {
    if (replicas != null) {
      replicas.close();
    }
    reports.close();
  }
}
