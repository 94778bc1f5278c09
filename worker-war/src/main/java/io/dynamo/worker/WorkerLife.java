package io.dynamo.worker;

import io.dynamo.inference.EngineOutput;
import io.dynamo.inference.GenerateRequest;
import io.dynamo.request.EndpointServer;
import io.dynamo.runtime.health.Canary;
import io.dynamo.worker.load.LifecycleGauges;
import io.dynamo.worker.serve.Handovers;

/** The stages of a worker's life, each with the objects that exist in that stage. Immutable. */
sealed interface WorkerLife {
  /** The objects of a started worker. */
  record Service(
      EndpointServer.Served endpoint,
      Handovers streams,
      PublishedCard card,
      Presence presence,
      Canary<GenerateRequest, EngineOutput> canary,
      SleepSwitch sleeping,
      LifecycleGauges times) {}

  WorkerService.State state();

  record New() implements WorkerLife {
    @Override
    public WorkerService.State state() {
      return WorkerService.State.NEW;
    }
  }

  record Serving(Service service) implements WorkerLife {
    @Override
    public WorkerService.State state() {
      return WorkerService.State.SERVING;
    }
  }

  record Draining(Service service) implements WorkerLife {
    @Override
    public WorkerService.State state() {
      return WorkerService.State.DRAINING;
    }
  }

  record Closed() implements WorkerLife {
    @Override
    public WorkerService.State state() {
      return WorkerService.State.CLOSED;
    }
  }
}
