package io.dynamo.frontend.health;

import jakarta.enterprise.context.ApplicationScoped;
import org.eclipse.microprofile.health.HealthCheck;
import org.eclipse.microprofile.health.HealthCheckResponse;
import org.eclipse.microprofile.health.Liveness;

/** Live as long as it answers, while draining too: a probe must not kill what is finishing. */
@Liveness
@ApplicationScoped
public class FrontendLive implements HealthCheck {
  @Override
  public HealthCheckResponse call() {
    return HealthCheckResponse.named("frontend").up().build();
  }
}
