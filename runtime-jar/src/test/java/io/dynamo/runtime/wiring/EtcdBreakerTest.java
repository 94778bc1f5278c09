package io.dynamo.runtime.wiring;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import io.dynamo.discovery.etcd.StoreUnavailableException;
import java.util.concurrent.atomic.AtomicBoolean;
import org.eclipse.microprofile.faulttolerance.exceptions.CircuitBreakerOpenException;
import org.junit.jupiter.api.Test;

class EtcdBreakerTest {
  @Test
  void refusalOfTheBreakerIsAnOutageOfTheStore() {
    var breaker =
        new EtcdBreaker(
            _ -> {
              throw new CircuitBreakerOpenException("open");
            });

    assertThatThrownBy(() -> breaker.run(() -> {}))
        .isInstanceOf(StoreUnavailableException.class)
        .hasMessageContaining("refused for two seconds");
  }

  @Test
  void callIsRunAndItsFailureKept() {
    var ran = new AtomicBoolean();
    var breaker = new EtcdBreaker(Runnable::run);

    breaker.run(() -> ran.set(true));

    assertThat(ran).isTrue();
    assertThatThrownBy(
            () ->
                breaker.run(
                    () -> {
                      throw new IllegalStateException("conflict");
                    }))
        .hasMessage("conflict");
  }
}
