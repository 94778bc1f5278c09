package io.dynamo.frontend.dispatch;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import io.dynamo.concurrent.Cancellation;
import io.dynamo.concurrent.Deadline;
import io.dynamo.discovery.EndpointId;
import io.dynamo.discovery.Instance;
import io.dynamo.discovery.InstanceId;
import io.dynamo.error.CancelledException;
import io.dynamo.error.DeadlineExceededException;
import io.dynamo.error.EngineFailedException;
import io.dynamo.error.ErrorCode;
import io.dynamo.error.NoWorkerException;
import io.dynamo.error.WorkerLostException;
import io.dynamo.frontend.TestCard;
import io.dynamo.frontend.catalog.ServedModel;
import io.dynamo.frontend.preprocess.TextlessModel;
import io.dynamo.inference.BodyTask;
import io.dynamo.inference.TaskOutput;
import io.dynamo.request.RequestContext;
import io.dynamo.router.KvRouter;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import java.util.Set;
import java.util.concurrent.Executors;
import java.util.concurrent.Flow;
import java.util.concurrent.ScheduledExecutorService;
import java.util.function.Consumer;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.Test;

/** Answers of several items, by the first worker that gives one. */
class WorkerTasksTest {
  private static final BodyTask TASK = new BodyTask(Map.of("model", "m"));

  private final ScheduledExecutorService timer = Executors.newSingleThreadScheduledExecutor();
  private final Cancellation cancellation = new Cancellation();
  private final List<InstanceId> asked = new ArrayList<>();
  private final List<InstanceId> aside = new ArrayList<>();
  private int workers = Integer.MAX_VALUE;
  private int open; // decisions
  private int cancelled; // streams
  private Duration timeout = Duration.ofSeconds(20);

  @AfterEach
  void nothingStaysBooked() {
    assertThat(open).isZero();
    timer.shutdownNow();
  }

  /** Plays the workers in turn: each gets the subscriber of its call. */
  private AnswerItems<TaskOutput> open(
      int retries, Consumer<Flow.Subscriber<? super TaskOutput>> play) {
    KvRouter router =
        request -> {
          if (request.excluded().size() >= workers) {
            throw new NoWorkerException(new EndpointId("a", "b", "c"), workers, 0);
          }
          open++;
          return new ChosenWorker(
              request, new InstanceId(1 + request.excluded().size()), () -> open--);
        };
    var calls =
        new TaskCalls() {
          @Override
          public Flow.Publisher<TaskOutput> call(
              Instance instance, BodyTask request, RequestContext context) {
            asked.add(instance.id());
            return to -> {
              to.onSubscribe(
                  new Flow.Subscription() {
                    @Override
                    public void request(long count) {}

                    @Override
                    public void cancel() {
                      cancelled++;
                    }
                  });
              play.accept(to);
            };
          }

          @Override
          public void setAside(EndpointId endpoint, InstanceId worker) {
            aside.add(worker);
          }
        };
    return new WorkerTasks(router, calls, retries, timer)
        .open(
            new ServedModel(
                TestCard.named("m").modelTypes(Set.of("Images")).modelInput("Text").build(),
                new EndpointId("dynamo", "m", "generate"),
                TextlessModel.INSTANCE,
                0),
            TASK,
            new RequestContext("id", Map.of(), Map.of(), Deadline.after(timeout), cancellation));
  }

  private static TaskOutput item(int number) {
    return new TaskOutput(Map.of("n", number));
  }

  private static WorkerLostException lost() {
    return new WorkerLostException(ErrorCode.DISCONNECTED, "gone");
  }

  @Test
  void allItemsComeInTheirOrder() throws Exception {
    try (var items =
        open(
            3,
            to -> {
              to.onNext(item(1));
              to.onNext(item(2));
              to.onComplete();
            })) {
      items.awaitFirst();
      assertThat(items.poll()).isEqualTo(item(1));
      assertThat(items.await(1)).isTrue();
      assertThat(items.ended()).isFalse();
      assertThat(items.poll()).isEqualTo(item(2));
      assertThat(items.poll()).isNull();
      assertThat(items.ended()).isTrue();
    }
  }

  @Test
  void anotherWorkerIsAskedUntilTheFirstItem() throws Exception {
    try (var items =
        open(
            3,
            to -> {
              if (asked.size() < 3) {
                to.onError(lost());
              } else {
                to.onNext(item(1));
                to.onError(lost());
              }
            })) {
      items.awaitFirst();
      assertThat(items.poll()).isEqualTo(item(1));
      assertThatThrownBy(items::poll).isInstanceOf(WorkerLostException.class);
      assertThat(asked).hasSize(3);
      assertThat(aside).containsExactly(new InstanceId(1), new InstanceId(2));
    }
  }

  @Test
  void theLossIsToldWhenNoOtherWorkerIsThere() {
    workers = 1;
    try (var items = open(3, to -> to.onError(lost()))) {
      assertThatThrownBy(items::awaitFirst).isInstanceOf(WorkerLostException.class);
      assertThatThrownBy(items::poll).isInstanceOf(WorkerLostException.class);
      assertThat(asked).hasSize(1);
    }
  }

  @Test
  void anAnswerWithoutAnItemIsAFailure() {
    try (var items = open(3, Flow.Subscriber::onComplete)) {
      assertThatThrownBy(items::awaitFirst).isInstanceOf(EngineFailedException.class);
      assertThat(items.ended()).isFalse();
    }
  }

  @Test
  void numbersThatJsonDoesNotHaveAreAFailureInEveryItem() throws Exception {
    try (var items =
        open(
            3,
            to -> {
              to.onNext(item(1));
              to.onNext(new TaskOutput(List.of(Map.of("x", Double.NaN))));
            })) {
      items.awaitFirst();
      assertThat(items.poll()).isEqualTo(item(1));
      assertThatThrownBy(items::poll).isInstanceOf(EngineFailedException.class);
    }
    assertThat(cancelled).isOne();
  }

  @Test
  void aClientThatLeavesEndsTheWait() {
    try (var items = open(3, _ -> cancellation.kill())) {
      assertThatThrownBy(items::awaitFirst).isInstanceOf(CancelledException.class);
    }
    assertThat(cancelled).isPositive();
    assertThat(asked).hasSize(1);
  }

  @Test
  void aStopAloneEndsNothing() throws Exception {
    try (var items =
        open(
            3,
            to -> {
              cancellation.stop();
              to.onNext(item(1));
            })) {
      items.awaitFirst();
      assertThat(items.poll()).isEqualTo(item(1));
    }
  }

  @Test
  void anAbortEndsTheWaitAndNoOtherWorkerIsAsked() {
    try (var items = open(3, _ -> {})) {
      items.abort(lost());
      assertThatThrownBy(items::awaitFirst).isInstanceOf(WorkerLostException.class);
    }
    assertThat(asked).hasSize(1);
  }

  @Test
  void theDeadlineEndsTheWait() {
    timeout = Duration.ofMillis(1);
    try (var items = open(3, _ -> {})) {
      assertThatThrownBy(items::awaitFirst).isInstanceOf(DeadlineExceededException.class);
    }
  }

  @Test
  void aWaitWithALimitEndsWithoutAnItem() throws Exception {
    try (var items = open(3, _ -> {})) {
      items.awaitFirst(1);
      assertThat(items.await(1)).isFalse();
      assertThat(items.poll()).isNull();
      assertThat(items.ended()).isFalse();
    }
    assertThat(cancelled).isOne();
  }
}
