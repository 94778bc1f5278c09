package io.dynamo.concurrent;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import java.util.ArrayDeque;
import java.util.ArrayList;
import java.util.List;
import java.util.Queue;
import java.util.concurrent.RejectedExecutionException;
import org.junit.jupiter.api.Test;

class SerialTasksTest {
  private final Queue<Runnable> begun = new ArrayDeque<>();
  private final List<String> run = new ArrayList<>();
  private Runnable beforeRefusal = () -> {};
  private boolean refuses;
  private final SerialTasks tasks = SerialTasks.bounded("the test", this::execute, 2);

  private void execute(Runnable work) {
    if (refuses) {
      beforeRefusal.run();
      throw new RejectedExecutionException("refused by the test");
    }
    begun.add(work);
  }

  @Test
  void tasksRunInOrderOnOneThreadAtATime() {
    assertThat(tasks.add(() -> run.add("a"))).isTrue();
    assertThat(tasks.offer(() -> run.add("b"))).isTrue();
    assertThat(begun).hasSize(1);
    assertThat(run).isEmpty();
    begun.remove().run();
    assertThat(run).containsExactly("a", "b");
    tasks.add(() -> run.add("c"));
    begun.remove().run();
    assertThat(run).containsExactly("a", "b", "c");
  }

  @Test
  void aTaskAddedByATaskRunsAfterThoseThatWait() {
    tasks.add(
        () -> {
          run.add("first");
          tasks.add(() -> run.add("added"));
        });
    tasks.add(() -> run.add("waiting"));
    begun.remove().run();
    assertThat(run).containsExactly("first", "waiting", "added");
    assertThat(begun).isEmpty();
  }

  @Test
  void offersBeyondTheBoundAreRefusedUntilATaskBegins() {
    assertThat(tasks.offer(() -> run.add("a"))).isTrue();
    assertThat(tasks.offer(() -> assertThat(tasks.offer(() -> run.add("from a task"))).isTrue()))
        .isTrue();
    assertThat(tasks.offer(() -> run.add("too many"))).isFalse();
    begun.remove().run();
    assertThat(run).containsExactly("a", "from a task");
  }

  @Test
  void addedTasksNeitherTakeNorNeedRoom() {
    tasks.add(() -> run.add("a"));
    tasks.add(() -> run.add("b"));
    tasks.add(() -> run.add("c"));
    assertThat(tasks.offer(() -> run.add("d"))).isTrue();
    assertThat(tasks.offer(() -> run.add("e"))).isTrue();
    assertThat(tasks.offer(() -> run.add("too many"))).isFalse();
    assertThat(tasks.add(() -> run.add("f"))).isTrue();
    begun.remove().run();
    assertThat(run).containsExactly("a", "b", "c", "d", "e", "f");
  }

  @Test
  void aTaskThatFailsDoesNotStopTheNext() {
    tasks.add(
        () -> {
          throw new IllegalStateException("thrown by the test");
        });
    tasks.add(() -> run.add("next"));
    begun.remove().run();
    assertThat(run).containsExactly("next");
  }

  @Test
  void aRejectedTaskIsDiscardedAndTheCallerSeesIt() {
    refuses = true;
    assertThat(tasks.offer(() -> run.add("rejected"))).isFalse();
    refuses = false;
    assertThat(tasks.offer(() -> run.add("later"))).isTrue();
    begun.remove().run();
    assertThat(run).containsExactly("later");
  }

  @Test
  void aRejectionDiscardsAllThatWaitAndGivesTheirRoomBack() {
    refuses = true;
    beforeRefusal = () -> assertThat(tasks.offer(() -> run.add("waiting"))).isTrue();
    assertThat(tasks.offer(() -> run.add("rejected"))).isFalse();
    refuses = false;
    assertThat(tasks.offer(() -> run.add("a"))).isTrue();
    assertThat(tasks.offer(() -> run.add("b"))).isTrue();
    begun.remove().run();
    assertThat(run).containsExactly("a", "b");
  }

  @Test
  void nothingBeginsAfterTheClose() {
    tasks.add(
        () -> {
          run.add("last");
          tasks.close();
        });
    tasks.add(() -> run.add("too late"));
    begun.remove().run();
    assertThat(tasks.add(() -> run.add("refused"))).isFalse();
    assertThat(tasks.offer(() -> run.add("refused"))).isFalse();
    assertThat(run).containsExactly("last");
    assertThat(begun).isEmpty();
    assertThat(tasks.isClosed()).isTrue();
  }

  @Test
  void aBoundBelowOneIsRefused() {
    assertThatThrownBy(() -> SerialTasks.bounded("the test", this::execute, 0))
        .isInstanceOf(IllegalArgumentException.class)
        .hasMessageContaining("capacity 0");
  }
}
