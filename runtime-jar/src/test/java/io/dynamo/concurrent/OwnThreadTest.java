package io.dynamo.concurrent;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import java.util.concurrent.atomic.AtomicReference;
import org.junit.jupiter.api.Test;

class OwnThreadTest {
  private static final ThreadLocal<String> LEFT_BEHIND = new ThreadLocal<>();

  @Test
  void threadLocalsOfTheWorkDoNotReachTheCaller() {
    var ran = new AtomicReference<Thread>();

    OwnThread.run(
        "work",
        () -> {
          LEFT_BEHIND.set("rubbish");
          ran.set(Thread.currentThread());
        });

    assertThat(ran.get().getName()).isEqualTo("work");
    assertThat(LEFT_BEHIND.get()).isNull();
  }

  @Test
  void failureOfTheWorkIsTheCallers() {
    var failure = new IllegalStateException("bad day");

    assertThatThrownBy(
            () ->
                OwnThread.run(
                    "work",
                    () -> {
                      throw failure;
                    }))
        .isSameAs(failure);
  }

  @Test
  void interruptedCallerWaitsAndStaysInterrupted() {
    var done = new AtomicReference<Boolean>();

    Thread.currentThread().interrupt();
    OwnThread.run("work", () -> done.set(Thread.currentThread().isInterrupted()));

    assertThat(Thread.interrupted()).isTrue();
    assertThat(done.get()).isFalse();
  }
}
