package io.dynamo.frontend.health;

import io.dynamo.config.Role;
import io.dynamo.frontend.admission.RequestAdmission;
import io.dynamo.frontend.catalog.ModelCatalog;
import io.dynamo.frontend.warmup.WarmUp;
import io.dynamo.natives.NativeLibrary;
import io.dynamo.runtime.DynamoRuntime;
import io.dynamo.runtime.RouterStatus;
import jakarta.enterprise.context.ApplicationScoped;
import jakarta.enterprise.inject.Instance;
import jakarta.inject.Inject;
import org.eclipse.microprofile.health.HealthCheck;
import org.eclipse.microprofile.health.HealthCheckResponse;
import org.eclipse.microprofile.health.Readiness;

/**
 * Reports readiness: requests are admitted, a live worker serves a model, and the warm-up is over.
 * Always ready on a server without the role.
 */
@Readiness
@ApplicationScoped
public class FrontendReady implements HealthCheck {
  @Inject private DynamoRuntime runtime;

  // Made on servers that play the role only.
  @Inject private Instance<ModelCatalog> catalog;
  @Inject private Instance<RequestAdmission> admission;
  @Inject private Instance<RouterStatus> router;
  @Inject private Instance<WarmUp> warmUp;

  @Override
  public HealthCheckResponse call() {
    var response = HealthCheckResponse.named("frontend");
    if (!runtime.settings().server().roles().contains(Role.FRONTEND)) {
      return response.withData("role", "not played").up().build();
    }
    int models = catalog.get().models().size();
    var door = admission.get();
    var here = router.get();
    boolean warm = warmUp.get().isOver();
    var cause = NativeLibrary.cause();
    return response
        .withData("models", models)
        .withData("requests", door.admitted())
        .withData("router", here.id())
        .withData("placed", here.placed())
        .withData("warm", warm)
        .withData("native", cause == null ? "present" : cause)
        .status(door.isOpen() && models > 0 && warm)
        .build();
  }
}
