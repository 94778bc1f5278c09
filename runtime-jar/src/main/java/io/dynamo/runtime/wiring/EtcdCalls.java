package io.dynamo.runtime.wiring;

import io.dynamo.discovery.etcd.StoreUnavailableException;
import jakarta.enterprise.context.ApplicationScoped;
import org.eclipse.microprofile.faulttolerance.CircuitBreaker;
import org.eclipse.microprofile.faulttolerance.Retry;

/**
 * Runs calls to etcd under MicroProfile Fault Tolerance: a call that failed is tried once more, and
 * after four failures in a row calls are refused for two seconds. A CDI class bean, because
 * interceptors reach nothing else. Start at {@link EtcdBreaker}.
 */
@ApplicationScoped
public class EtcdCalls {
  /** Runs {@code call} on this thread. */
  @Retry(maxRetries = 1, delay = 100, jitter = 50, retryOn = StoreUnavailableException.class)
  @CircuitBreaker(
      failOn = StoreUnavailableException.class,
      requestVolumeThreshold = 4,
      failureRatio = 1.0,
      delay = 2000)
  public void run(Runnable call) {
    call.run();
  }
}
