package io.dynamo.worker.health;

import io.dynamo.runtime.RouterStatus;
import io.dynamo.worker.wiring.WorkerHolder;
import jakarta.enterprise.context.Dependent;
import jakarta.enterprise.inject.Instance;
import jakarta.inject.Inject;
import org.eclipse.microprofile.health.HealthCheck;
import org.eclipse.microprofile.health.HealthCheckResponse;
import org.eclipse.microprofile.health.Readiness;

/**
 * Reports ready while a model is served, and the worker of each model that is awake is started,
 * healthy and not draining. Up on servers that run no worker.
 */
@Readiness
@Dependent
public class WorkerReadiness implements HealthCheck {
  private final WorkerHolder worker;
  private final Instance<RouterStatus> router; // created only on servers that route

  @Inject
  WorkerReadiness(WorkerHolder worker, Instance<RouterStatus> router) {
    this.worker = worker;
    this.router = router;
  }

  @Override
  public HealthCheckResponse call() {
    var answer = HealthCheckResponse.named("worker");
    var status = worker.status();
    if (status == null) {
      return answer.up().withData("role", "not played").build();
    }
    answer
        .status(status.ready())
        .withData("state", status.state().name())
        .withData("ranks", status.models().stream().mapToLong(it -> it.load().ranks().size()).sum())
        .withData("memory", status.memoryKind());
    for (var model : status.models()) {
      if (!model.ready()) {
        answer.withData(model.model(), model.asleep() ? "asleep" : "not well");
      }
    }
    if (worker.isBesideRouter()) {
      var here = router.get();
      answer.withData("router", here.id()).withData("placed", here.placed());
    }
    return answer.build();
  }
}
