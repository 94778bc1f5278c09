package io.dynamo.runtime;

import static org.assertj.core.api.Assertions.assertThat;

import java.time.Duration;
import java.util.List;
import java.util.concurrent.CopyOnWriteArrayList;
import java.util.concurrent.CountDownLatch;
import java.util.concurrent.TimeUnit;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;

@Timeout(60)
class ClosingStackTest {
  private final List<String> log = new CopyOnWriteArrayList<>();

  /** A close that takes {@code millis}. */
  private AutoCloseable slow(String name, long millis) {
    return () -> {
      try {
        var elapsed = !new CountDownLatch(1).await(millis, TimeUnit.MILLISECONDS);
        log.add(name + (elapsed ? " closed" : " woken"));
      } catch (InterruptedException e) {
        log.add(name + " interrupted");
      }
    };
  }

  @Test
  void aPartMayTakeThePatienceItAskedFor() {
    try (var stack = new ClosingStack(Duration.ofMillis(1))) {
      stack.push("sockets", Duration.ofSeconds(20), slow("sockets", 100));
    }

    assertThat(log).containsExactly("sockets closed");
  }

  @Test
  void aHangingPartKeepsNoOtherFromClosing() {
    try (var stack = new ClosingStack(Duration.ofSeconds(20))) {
      stack.push("first", () -> log.add("first closed"));
      stack.push("hanging", Duration.ofMillis(1), slow("hanging", 30_000));
    }

    assertThat(log).contains("first closed").doesNotContain("hanging closed");
  }
}
