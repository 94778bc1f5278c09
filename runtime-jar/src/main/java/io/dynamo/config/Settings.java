package io.dynamo.config;

import io.dynamo.config.frontend.ApiSettings;
import io.dynamo.config.frontend.BatchesSettings;
import io.dynamo.config.frontend.FrontendSettings;
import io.dynamo.config.frontend.GrpcSettings;
import io.dynamo.config.frontend.RouteSettings;
import io.dynamo.config.plane.DiscoverySettings;
import io.dynamo.config.plane.EventSettings;
import io.dynamo.config.plane.NatsSettings;
import io.dynamo.config.plane.RequestSettings;
import io.dynamo.config.plane.TcpSettings;
import io.dynamo.config.plane.TransferSettings;
import io.dynamo.config.router.RouterSettings;
import io.dynamo.config.watch.StatusSettings;
import io.dynamo.config.watch.WatchSettings;
import io.dynamo.config.worker.WorkerSettings;
import java.util.List;

/**
 * All settings of a server, read and checked once at its start; one record per area.
 *
 * @param workers the models that it serves, at least one
 */
public record Settings(
    ServerSettings server,
    DiscoverySettings discovery,
    RequestSettings request,
    TcpSettings tcp,
    EventSettings event,
    NatsSettings nats,
    TransferSettings transfer,
    RouterSettings router,
    FrontendSettings frontend,
    ApiSettings api,
    RouteSettings routes,
    BatchesSettings batches,
    GrpcSettings grpc,
    List<WorkerSettings> workers,
    StatusSettings status,
    WatchSettings watch) {
  public Settings {
    workers = List.copyOf(workers);
  }

  /** Returns the settings of the only model; of several, the first. */
  public WorkerSettings worker() {
    return workers.getFirst();
  }
}
