package io.dynamo.frontend.dispatch;

import jakarta.enterprise.context.ApplicationScoped;
import java.util.concurrent.CompletionStage;
import org.eclipse.microprofile.faulttolerance.Asynchronous;
import org.eclipse.microprofile.faulttolerance.Retry;

/**
 * Runs one leg of a generation per call; MicroProfile Fault Tolerance calls again when a leg is
 * lost. A CDI class bean, because interceptors reach nothing else. The defaults of {@code @Retry}
 * (3 retries, 180 s, random delays) would prevent every long generation from migrating, so all are
 * lifted: {@link Generation} counts its own limit.
 */
@ApplicationScoped
public class GenerationLegs implements Legs {
  @Override
  @Asynchronous
  @Retry(maxRetries = -1, maxDuration = 0, delay = 0, jitter = 0, retryOn = LegLostException.class)
  public CompletionStage<Void> run(Generation generation) {
    return generation.startLeg();
  }
}
