package io.dynamo.concurrent;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import java.util.ArrayDeque;
import java.util.ArrayList;
import java.util.List;
import java.util.Queue;
import java.util.concurrent.RejectedExecutionException;
import org.junit.jupiter.api.Test;

class CoalescedTaskTest {
  private final Queue<Runnable> begun = new ArrayDeque<>();
  private final List<String> log = new ArrayList<>();
  private Runnable during = () -> {};
  private RuntimeException refusal = new RejectedExecutionException("refused by the test");
  private boolean refuses;
  private final CoalescedTask task =
      new CoalescedTask("the test", this::execute, this::run, () -> log.add("rejected"));

  private void execute(Runnable run) {
    if (refuses) {
      during.run();
      throw refusal;
    }
    begun.add(run);
  }

  private void run() {
    log.add("run");
    during.run();
  }

  @Test
  void requestsBeforeARunAreAnsweredByThatRun() {
    assertThat(task.request()).isTrue();
    assertThat(task.request()).isTrue();
    assertThat(begun).hasSize(1);
    assertThat(log).isEmpty();
    begun.remove().run();
    assertThat(log).containsExactly("run");
    assertThat(begun).isEmpty();
  }

  @Test
  void aRequestDuringARunLeadsToAnotherOnTheSameThread() {
    during =
        () -> {
          if (log.size() < 3) {
            assertThat(task.request()).isTrue();
            assertThat(task.request()).isTrue();
          }
        };
    task.request();
    begun.remove().run();
    assertThat(log).containsExactly("run", "run", "run");
    assertThat(begun).isEmpty();
  }

  @Test
  void noThreadIsHeldBetweenRuns() {
    task.request();
    begun.remove().run();
    assertThat(begun).isEmpty();
    task.request();
    assertThat(begun).hasSize(1);
  }

  @Test
  void aRunThatFailsDoesNotStopTheNext() {
    during =
        () -> {
          throw new IllegalStateException("thrown by the test");
        };
    task.request();
    begun.remove().run();
    task.request();
    begun.remove().run();
    assertThat(log).containsExactly("run", "run");
  }

  @Test
  void aRejectedRequestRunsTheOtherTaskAndSaysSo() {
    refuses = true;
    assertThat(task.request()).isFalse();
    assertThat(log).containsExactly("rejected");
  }

  @Test
  void aRequestDuringARejectionIsAnsweredByTheOtherTaskToo() {
    refuses = true;
    during = () -> assertThat(task.request()).isTrue();
    assertThat(task.request()).isFalse();
    assertThat(log).containsExactly("rejected");
    assertThat(begun).isEmpty();
  }

  @Test
  void theExecutorIsTriedAgainAfterARejection() {
    refuses = true;
    task.request();
    refuses = false;
    assertThat(task.request()).isTrue();
    begun.remove().run();
    assertThat(log).containsExactly("rejected", "run");
  }

  @Test
  void anExecutorThatFailsOtherwiseRejectsAndThrows() {
    refuses = true;
    refusal = new IllegalStateException("broken by the test");
    assertThatThrownBy(task::request).isSameAs(refusal);
    assertThat(log).containsExactly("rejected");
    refuses = false;
    assertThat(task.request()).isTrue();
    assertThat(begun).hasSize(1);
  }
}
