package io.dynamo.worker.wiring;

import io.dynamo.concurrent.Deadline;
import io.dynamo.discovery.TransportAddress;
import io.dynamo.runtime.status.Registered;
import io.dynamo.worker.EmbeddingService;
import io.dynamo.worker.WorkerService;
import io.dynamo.worker.control.ModelControls;
import io.dynamo.worker.engine.LoadReport;
import io.dynamo.worker.engine.RankLoad;
import io.dynamo.worker.process.EngineProcess;
import java.util.List;
import org.jspecify.annotations.Nullable;

/** A worker that embeds and does not generate. Safe for concurrent use. */
final class EmbeddingRole implements WorkerRole {
  /** The load of an engine without ranks. */
  private static final LoadReport NO_RANKS =
      new LoadReport() {
        @Override
        public List<RankLoad> ranks() {
          return List.of();
        }

        @Override
        public long cancelled() {
          return 0;
        }

        @Override
        public long lastCancelNanos() {
          return 0;
        }
      };

  private final String model;
  private final EmbeddingService service;
  private final Registered serverMetrics;
  private final @Nullable EngineProcess process; // null when the engine's server is not ours

  /**
   * @param model the name that clients use
   * @param serverMetrics removed at the end
   * @param process the engine's server, started before the engine and ended after it
   */
  EmbeddingRole(
      String model,
      EmbeddingService service,
      Registered serverMetrics,
      @Nullable EngineProcess process) {
    this.model = model;
    this.service = service;
    this.serverMetrics = serverMetrics;
    this.process = process;
  }

  @Override
  public void start() {
    if (process != null) {
      process.start();
    }
    service.start();
  }

  @Override
  public String model() {
    return model;
  }

  @Override
  public WorkerService.State state() {
    return service.state();
  }

  @Override
  public boolean isReady() {
    return service.isReady();
  }

  @Override
  public @Nullable TransportAddress address() {
    return service.address();
  }

  @Override
  public LoadReport load() {
    return NO_RANKS;
  }

  @Override
  public boolean isAsleep() {
    return false;
  }

  @Override
  public @Nullable ModelControls controls() {
    return null;
  }

  @Override
  public void stop(Deadline deadline) throws InterruptedException {
    try {
      service.drain(deadline);
    } finally {
      close();
    }
  }

  @Override
  public void close() {
    serverMetrics.close();
    service.close();
    if (process != null) {
      process.close();
    }
  }
}
