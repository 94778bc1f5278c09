package io.dynamo.worker.wiring;

import io.dynamo.concurrent.Deadline;
import io.dynamo.config.worker.WorkerSettings;
import io.dynamo.discovery.TransportAddress;
import io.dynamo.inference.EngineOutput;
import io.dynamo.inference.GenerateRequest;
import io.dynamo.runtime.DynamoRuntime;
import io.dynamo.runtime.status.Registered;
import io.dynamo.wire.MessageCodec;
import io.dynamo.worker.WorkerService;
import io.dynamo.worker.control.ControlEndpoints;
import io.dynamo.worker.control.ModelControls;
import io.dynamo.worker.engine.LoadReport;
import io.dynamo.worker.lora.Adapters;
import io.dynamo.worker.process.EngineProcess;
import io.dynamo.worker.relocation.Relocation;
import io.dynamo.worker.serve.Successors;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.locks.ReentrantLock;
import org.jspecify.annotations.Nullable;

/** The worker of one model, from its start to its end. Safe for concurrent use. */
final class WorkerRole {
  private final WorkerService service;
  private final LoadReport load;
  private final ModelControls controls;
  private final ControlEndpoints commands;
  private final Adapters adapters;
  private final Successors successors;
  private final @Nullable Relocation relocation; // null when the engine's blocks stay here
  private final Registered serverMetrics;
  private final @Nullable EngineProcess process; // null when the engine's server is not ours
  private final ReentrantLock stopping = new ReentrantLock();

  /**
   * @param serverMetrics removed at the end
   * @param process the engine's server, started before the engine and ended after it
   */
  WorkerRole(
      WorkerService service,
      LoadReport load,
      ModelControls controls,
      ControlEndpoints commands,
      Adapters adapters,
      Successors successors,
      @Nullable Relocation relocation,
      Registered serverMetrics,
      @Nullable EngineProcess process) {
    this.service = service;
    this.load = load;
    this.controls = controls;
    this.commands = commands;
    this.adapters = adapters;
    this.successors = successors;
    this.relocation = relocation;
    this.serverMetrics = serverMetrics;
    this.process = process;
  }

  /** Builds the worker and starts it; a failure undoes all steps. */
  static WorkerRole start(
      DynamoRuntime runtime,
      WorkerSettings settings,
      MessageCodec<GenerateRequest, EngineOutput> codec) {
    var role = new WorkerAssembly(runtime, settings, codec).assemble();
    try {
      if (role.process != null) {
        role.process.start();
      }
      role.service.start();
      role.commands.open(role.controls);
      if (role.relocation != null) {
        role.relocation.open();
      }
    } catch (RuntimeException | Error failure) {
      role.close();
      throw failure;
    }
    return role;
  }

  WorkerService.State state() {
    return service.state();
  }

  boolean isReady() {
    return service.isReady();
  }

  /** Returns where requests reach the worker; null while it does not serve. */
  @Nullable TransportAddress address() {
    return service.address();
  }

  LoadReport load() {
    return load;
  }

  boolean isAsleep() {
    return service.isAsleep();
  }

  ModelControls controls() {
    return controls;
  }

  /**
   * Refuses further commands, lets running generations end until the deadline, and frees
   * everything.
   */
  void stop(Deadline deadline) throws InterruptedException {
    // an operator's drain may be running: its streams keep the rest of their time
    boolean alone = stopping.tryLock(Math.max(0, deadline.remainingNanos()), TimeUnit.NANOSECONDS);
    try {
      if (alone) {
        commands.close();
        adapters.close();
        closeRelocation();
        service.drain(deadline);
      }
    } finally {
      if (alone) {
        stopping.unlock();
      }
      close();
    }
  }

  /** Stops accepting blocks of other workers; giving blocks away continues. */
  private void closeRelocation() {
    if (relocation != null) {
      relocation.close();
    }
  }

  /** Ends everything now. Idempotent. */
  void close() {
    serverMetrics.close();
    commands.close();
    adapters.close();
    closeRelocation();
    service.close();
    successors.close();
    if (process != null) {
      process.close();
    }
  }
}
