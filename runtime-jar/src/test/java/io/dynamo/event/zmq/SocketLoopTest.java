package io.dynamo.event.zmq;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatIllegalStateException;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import java.time.Duration;
import java.util.List;
import java.util.concurrent.CopyOnWriteArrayList;
import java.util.concurrent.CountDownLatch;
import java.util.concurrent.TimeUnit;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.Test;

class SocketLoopTest {
  private static final Duration LONG = Duration.ofSeconds(10);

  private final SocketLoop loop = new SocketLoop("test-loop");
  private final List<String> undone = new CopyOnWriteArrayList<>();
  private final CountDownLatch held = new CountDownLatch(1);

  @AfterEach
  void end() throws InterruptedException {
    held.countDown();
    loop.end();
    assertThat(loop.join(LONG)).isTrue();
  }

  private void hold() {
    try {
      held.await(LONG.toMillis(), TimeUnit.MILLISECONDS);
    } catch (InterruptedException e) {
      Thread.currentThread().interrupt();
    }
  }

  @Test
  void whatATaskMakesIsTheCallers() {
    assertThat(loop.call(() -> "made", LONG, undone::add)).isEqualTo("made");
    assertThat(undone).isEmpty();
  }

  @Test
  void whatIsMadeTooLateIsTakenBack() {
    assertThatIllegalStateException()
        .isThrownBy(
            () ->
                loop.call(
                    () -> {
                      hold();
                      return "late";
                    },
                    Duration.ofMillis(20),
                    undone::add))
        .withMessageContaining("test-loop");
    held.countDown();

    loop.call(() -> "after it", LONG, undone::add);
    assertThat(undone).containsExactly("late");
  }

  @Test
  void whatNobodyWaitsForAnyMoreIsNotBegun() {
    loop.execute(this::hold);
    var begun = new CopyOnWriteArrayList<String>();
    assertThatIllegalStateException()
        .isThrownBy(
            () ->
                loop.call(
                    () -> {
                      begun.add("begun");
                      return "late";
                    },
                    Duration.ofMillis(20),
                    undone::add));
    held.countDown();

    loop.call(() -> "after it", LONG, undone::add);
    assertThat(begun).isEmpty();
    assertThat(undone).isEmpty();
  }

  private static String refuse() {
    throw new IllegalArgumentException("no");
  }

  @Test
  void aFailureIsTheCallers() {
    assertThatThrownBy(() -> loop.call(SocketLoopTest::refuse, LONG, undone::add))
        .isInstanceOf(IllegalArgumentException.class)
        .hasMessage("no");
  }
}
