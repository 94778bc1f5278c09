package io.dynamo.frontend.health;

import io.dynamo.config.Role;
import io.dynamo.frontend.admission.RequestAdmission;
import io.dynamo.runtime.DynamoRuntime;
import jakarta.enterprise.context.ApplicationScoped;
import jakarta.inject.Inject;
import org.eclipse.microprofile.health.HealthCheck;
import org.eclipse.microprofile.health.HealthCheckResponse;
import org.eclipse.microprofile.health.Startup;

/**
 * Reports the frontend as started once its role has started, with or without models; a server
 * without the role counts as started.
 */
@Startup
@ApplicationScoped
public class FrontendStarted implements HealthCheck {
  @Inject private DynamoRuntime runtime;
  @Inject private RequestAdmission admission;

  @Override
  public HealthCheckResponse call() {
    boolean played = runtime.settings().server().roles().contains(Role.FRONTEND);
    return HealthCheckResponse.named("frontend").status(!played || admission.wasOpened()).build();
  }
}
