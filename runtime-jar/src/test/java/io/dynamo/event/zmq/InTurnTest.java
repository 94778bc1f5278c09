package io.dynamo.event.zmq;

import static org.assertj.core.api.Assertions.assertThat;

import io.dynamo.event.EventBudget;
import java.util.ArrayDeque;
import java.util.ArrayList;
import java.util.List;
import java.util.Queue;
import java.util.concurrent.RejectedExecutionException;
import org.junit.jupiter.api.Test;

class InTurnTest {
  private final Queue<Runnable> begun = new ArrayDeque<>();
  private final List<String> run = new ArrayList<>();
  private final InTurn turns = new InTurn(new EventBudget(2, 100), begun::add);

  @Test
  void tasksRunInOrderOnOneThreadAtATime() {
    turns.add(() -> run.add("a"));
    assertThat(turns.offer(10, () -> run.add("b"))).isTrue();
    assertThat(begun).hasSize(1);
    assertThat(run).isEmpty();
    begun.remove().run();
    assertThat(run).containsExactly("a", "b");
    turns.add(() -> run.add("c"));
    begun.remove().run();
    assertThat(run).containsExactly("a", "b", "c");
  }

  @Test
  void tasksBeyondTheCapacityAreRejected() {
    assertThat(turns.offer(60, () -> {})).isTrue();
    assertThat(turns.offer(41, () -> {})).isFalse();
    assertThat(turns.offer(40, () -> {})).isTrue();
    assertThat(turns.offer(0, () -> {})).isFalse();
    begun.remove().run();
    assertThat(turns.offer(1000, () -> {})).as("alone").isTrue();
  }

  @Test
  void oneThatFailsDoesNotStopTheNext() {
    turns.add(
        () -> {
          throw new IllegalStateException("thrown by the test");
        });
    turns.add(() -> run.add("next"));
    begun.remove().run();
    assertThat(run).containsExactly("next");
  }

  @Test
  void nothingIsBegunAfterTheEnd() {
    turns.add(
        () -> {
          run.add("last");
          turns.close();
        });
    turns.add(() -> run.add("too late"));
    begun.remove().run();
    assertThat(run).containsExactly("last");
  }

  @Test
  void threadsThatAreGoneAreTheEnd() {
    var without =
        new InTurn(
            new EventBudget(1, 1),
            _ -> {
              throw new RejectedExecutionException("closed");
            });
    without.add(() -> run.add("never"));
    assertThat(run).isEmpty();
  }
}
