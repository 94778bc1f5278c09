package io.dynamo.frontend.health;

import jakarta.enterprise.context.ApplicationScoped;
import org.eclipse.microprofile.health.HealthCheck;
import org.eclipse.microprofile.health.HealthCheckResponse;
import org.eclipse.microprofile.health.Liveness;

/**
 * Reports the server as live as long as it answers, also while it drains, so that no probe kills a
 * server that finishes its requests.
 */
@Liveness
@ApplicationScoped
public class FrontendLive implements HealthCheck {
  @Override
  public HealthCheckResponse call() {
    return HealthCheckResponse.named("frontend").up().build();
  }
}
