package io.dynamo.worker.wiring;

import io.dynamo.concurrent.Deadline;
import io.dynamo.discovery.TransportAddress;
import io.dynamo.runtime.status.Registered;
import io.dynamo.worker.EmbeddingService;
import io.dynamo.worker.WorkerService;
import io.dynamo.worker.control.ControlEndpoints;
import io.dynamo.worker.control.ModelControls;
import io.dynamo.worker.engine.LoadReport;
import io.dynamo.worker.engine.SleepableEngine;
import io.dynamo.worker.lora.Adapters;
import io.dynamo.worker.process.EngineProcess;
import io.dynamo.worker.relocation.Relocation;
import io.dynamo.worker.serve.Successors;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.locks.ReentrantLock;
import org.jspecify.annotations.Nullable;

/** A worker that generates, and may embed beside that. Safe for concurrent use. */
final class GenerationRole implements WorkerRole {
  private final WorkerService service;
  private final SleepableEngine engine;
  private final ModelControls controls;
  private final ControlEndpoints commands;
  private final Adapters adapters;
  private final Successors successors;
  private final @Nullable EmbeddingService embeddings; // null when it does not embed
  private final @Nullable Relocation relocation; // null when the engine's blocks stay here
  private final Registered serverMetrics;
  private final @Nullable EngineProcess process; // null when the engine's server is not ours
  private final ReentrantLock stopping = new ReentrantLock();

  /**
   * @param engine the service's
   * @param serverMetrics removed at the end
   * @param process the engine's server, started before the engine and ended after it
   */
  GenerationRole(
      WorkerService service,
      SleepableEngine engine,
      ModelControls controls,
      ControlEndpoints commands,
      Adapters adapters,
      Successors successors,
      @Nullable EmbeddingService embeddings,
      @Nullable Relocation relocation,
      Registered serverMetrics,
      @Nullable EngineProcess process) {
    this.service = service;
    this.engine = engine;
    this.controls = controls;
    this.commands = commands;
    this.adapters = adapters;
    this.successors = successors;
    this.embeddings = embeddings;
    this.relocation = relocation;
    this.serverMetrics = serverMetrics;
    this.process = process;
  }

  @Override
  public void start() {
    if (process != null) {
      process.start();
    }
    service.start();
    adapters.adopt(engine);
    if (embeddings != null) {
      embeddings.start();
    }
    commands.open(controls);
    if (relocation != null) {
      relocation.open();
    }
  }

  @Override
  public String model() {
    return controls.model();
  }

  @Override
  public WorkerService.State state() {
    return service.state();
  }

  @Override
  public boolean isReady() {
    return service.isReady() && (embeddings == null || embeddings.isReady());
  }

  @Override
  public @Nullable TransportAddress address() {
    return service.address();
  }

  @Override
  public LoadReport load() {
    return engine;
  }

  @Override
  public boolean isAsleep() {
    return service.isAsleep();
  }

  @Override
  public ModelControls controls() {
    return controls;
  }

  @Override
  public void stop(Deadline deadline) throws InterruptedException {
    // an operator's drain may be running: its streams keep the rest of their time
    boolean alone = stopping.tryLock(Math.max(0, deadline.remainingNanos()), TimeUnit.NANOSECONDS);
    try {
      if (alone) {
        commands.close();
        adapters.close();
        closeRelocation();
        drain(deadline);
      }
    } finally {
      if (alone) {
        stopping.unlock();
      }
      close();
    }
  }

  private void drain(Deadline deadline) throws InterruptedException {
    if (embeddings != null) {
      embeddings.leave(); // no new ones while generations end
    }
    service.drain(deadline);
    if (embeddings != null) {
      embeddings.drain(deadline);
    }
  }

  /** Stops accepting blocks of other workers; giving blocks away continues. */
  private void closeRelocation() {
    if (relocation != null) {
      relocation.close();
    }
  }

  @Override
  public void close() {
    serverMetrics.close();
    commands.close();
    adapters.close();
    closeRelocation();
    if (embeddings != null) {
      embeddings.close();
    }
    service.close();
    successors.close();
    if (process != null) {
      process.close();
    }
  }
}
