package io.dynamo.runtime.wiring;

import static org.assertj.core.api.Assertions.assertThat;

import io.dynamo.runtime.ClosingStack;
import java.time.Duration;
import java.util.concurrent.TimeUnit;
import org.junit.jupiter.api.Test;

class PlaneOpenerTest {
  @Test
  void aCancelledTaskLeavesTheTimerAtOnce() {
    try (var opened = new ClosingStack(Duration.ofSeconds(2))) {
      var timer = PlaneOpener.timer(opened);
      var deadline = timer.schedule(() -> {}, 10, TimeUnit.MINUTES);
      assertThat(timer.getQueue()).hasSize(1);

      deadline.cancel(false);

      assertThat(timer.getQueue()).isEmpty();
    }
  }
}
