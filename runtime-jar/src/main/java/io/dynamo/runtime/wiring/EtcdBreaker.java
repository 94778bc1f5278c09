package io.dynamo.runtime.wiring;

import io.dynamo.discovery.etcd.StoreGuard;
import io.dynamo.discovery.etcd.StoreUnavailableException;
import java.util.function.Consumer;
import org.eclipse.microprofile.faulttolerance.exceptions.CircuitBreakerOpenException;

/**
 * Guards calls to etcd by a circuit breaker, whose refusals it translates for discovery. Safe for
 * concurrent use.
 */
final class EtcdBreaker implements StoreGuard {
  private final Consumer<Runnable> calls;

  /**
   * @param calls runs a call, or throws {@link CircuitBreakerOpenException}
   */
  EtcdBreaker(Consumer<Runnable> calls) {
    this.calls = calls;
  }

  @Override
  public void run(Runnable call) {
    try {
      calls.accept(call);
    } catch (CircuitBreakerOpenException e) {
      throw new StoreUnavailableException(
          "etcd failed several times in a row; calls are refused for two seconds", e);
    }
  }
}
