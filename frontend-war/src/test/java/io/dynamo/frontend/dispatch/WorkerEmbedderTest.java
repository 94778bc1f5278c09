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
import io.dynamo.error.WorkerLostException;
import io.dynamo.frontend.TestCard;
import io.dynamo.frontend.catalog.ServedModel;
import io.dynamo.frontend.preprocess.NoText;
import io.dynamo.inference.EmbeddingOutput;
import io.dynamo.inference.EmbeddingRequest;
import io.dynamo.request.RequestContext;
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

/** How a worker is found that answers with embeddings. */
class WorkerEmbedderTest {
  private static final EmbeddingRequest REQUEST =
      new EmbeddingRequest(
          "m", List.of(new int[] {1, 2}, new int[] {3}), false, null, null, null, List.of());
  private static final EmbeddingOutput OUTPUT =
      new EmbeddingOutput(List.of(new float[] {1}, new float[] {2}), 3);

  private final ScheduledExecutorService timer = Executors.newSingleThreadScheduledExecutor();
  private final Cancellation cancellation = new Cancellation();
  private final List<InstanceId> asked = new ArrayList<>();
  private final List<InstanceId> aside = new ArrayList<>();
  private final List<int[]> routed = new ArrayList<>();
  private int open; // decisions
  private boolean streamCancelled;
  private Duration timeout = Duration.ofSeconds(20);

  @AfterEach
  void stopTimer() {
    timer.shutdownNow();
  }

  /** Plays the workers in turn: each gets the subscriber of its call. */
  private EmbeddingOutput embed(
      int retries, Consumer<Flow.Subscriber<? super EmbeddingOutput>> play)
      throws InterruptedException {
    var calls =
        new EmbeddingCalls() {
          @Override
          public Flow.Publisher<EmbeddingOutput> call(
              Instance instance, EmbeddingRequest request, RequestContext context) {
            asked.add(instance.id());
            return to -> {
              to.onSubscribe(
                  new Flow.Subscription() {
                    @Override
                    public void request(long count) {}

                    @Override
                    public void cancel() {
                      streamCancelled = true;
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
    var embedder =
        new WorkerEmbedder(
            request -> {
              open++;
              routed.add(request.tokenIds());
              var id = new InstanceId(1 + request.excluded().size());
              return new ChosenWorker(request, id, () -> open--);
            },
            calls,
            retries,
            timer);
    try {
      return embedder.embed(model(), REQUEST, context());
    } finally {
      assertThat(open).as("load that stays booked").isZero();
    }
  }

  private static ServedModel model() {
    return new ServedModel(
        TestCard.named("m").modelTypes(Set.of("Embedding")).build(),
        new EndpointId("dynamo", "m", "generate"),
        new NoText(),
        0);
  }

  private RequestContext context() {
    return new RequestContext("id", Map.of(), Map.of(), Deadline.after(timeout), cancellation);
  }

  @Test
  void theWorkersAnswerComesBack() throws Exception {
    assertThat(embed(3, to -> to.onNext(OUTPUT))).isEqualTo(OUTPUT);
    assertThat(routed.getFirst()).containsExactly(1, 2, 3);
    assertThat(asked).hasSize(1);
  }

  @Test
  void anotherWorkerIsAskedWhenOneIsLost() throws Exception {
    var output =
        embed(
            3,
            to -> {
              if (asked.size() < 3) {
                to.onError(new WorkerLostException(ErrorCode.DISCONNECTED, "gone"));
              } else {
                to.onNext(OUTPUT);
              }
            });

    assertThat(output).isEqualTo(OUTPUT);
    assertThat(asked).containsExactly(new InstanceId(1), new InstanceId(2), new InstanceId(3));
    assertThat(aside).containsExactly(new InstanceId(1), new InstanceId(2));
  }

  @Test
  void theNumberOfWorkersThatAreAskedIsBounded() {
    assertThatThrownBy(
            () -> embed(1, to -> to.onError(new WorkerLostException(ErrorCode.DISCONNECTED, "x"))))
        .isInstanceOf(WorkerLostException.class);
    assertThat(asked).hasSize(2);
  }

  @Test
  void aRefusalIsNotTriedElsewhere() {
    assertThatThrownBy(
            () ->
                embed(
                    3,
                    to ->
                        to.onError(
                            new EngineFailedException(ErrorCode.BACKEND_UNKNOWN, "bad", null))))
        .isInstanceOf(EngineFailedException.class);
    assertThat(asked).hasSize(1);
  }

  @Test
  void answersThatAreNoneAreFailures() {
    assertThatThrownBy(() -> embed(3, Flow.Subscriber::onComplete))
        .isInstanceOf(EngineFailedException.class);
    assertThatThrownBy(
            () -> embed(3, to -> to.onNext(new EmbeddingOutput(List.of(new float[] {1}), 3))))
        .hasMessageContaining("1 embeddings of 2 prompts");
  }

  @Test
  void aClientThatLeavesEndsTheWait() {
    assertThatThrownBy(() -> embed(3, _ -> cancellation.kill()))
        .isInstanceOf(CancelledException.class);
    assertThat(streamCancelled).isTrue();
  }

  @Test
  void aWorkerThatIsSilentIsWaitedForUntilTheDeadline() {
    timeout = Duration.ofMillis(500); // the worker is to be asked before it is over

    assertThatThrownBy(() -> embed(3, _ -> {})).isInstanceOf(DeadlineExceededException.class);
    assertThat(streamCancelled).isTrue();
  }
}
