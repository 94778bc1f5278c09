package io.dynamo.worker;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import io.dynamo.concurrent.Deadline;
import io.dynamo.concurrent.ItemStream;
import io.dynamo.discovery.EndpointId;
import io.dynamo.discovery.Instance;
import io.dynamo.discovery.ModelRecord;
import io.dynamo.error.InvalidRequestException;
import io.dynamo.error.WorkerLostException;
import io.dynamo.inference.EmbeddingOutput;
import io.dynamo.inference.EmbeddingRequest;
import io.dynamo.metrics.Metrics;
import io.dynamo.net.PayloadFormat;
import io.dynamo.request.EndpointHandler;
import io.dynamo.request.RequestContext;
import io.dynamo.worker.engine.Embedded;
import io.dynamo.worker.engine.EmbeddingDescription;
import io.dynamo.worker.engine.EmbeddingEngine;
import io.dynamo.worker.engine.Requests;
import java.time.Duration;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.List;
import java.util.concurrent.Flow;
import org.jspecify.annotations.Nullable;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.Test;

class EmbeddingServiceTest {
  private static final int WIDTH = 4;
  private static final int MAX_ANSWER = 1000;

  private final TestWorker worker = new TestWorker(new FaultyEngine()::parts, true).started();
  private final List<Engine> engines = new ArrayList<>();
  private @Nullable RuntimeException failure; // of the engines
  private final EmbeddingService service =
      new EmbeddingService(
          new EndpointId("n", "c", "embed"),
          PayloadFormat.MSGPACK,
          new WorkerService.Planes(worker.planes, worker.planes, new Metrics(), worker.status),
          Engine::new,
          limits -> TestCards.card("m", limits.contextLength(), 16),
          MAX_ANSWER);

  /** Gives each prompt the number of its tokens, or fails as the test says. */
  private final class Engine implements EmbeddingEngine {
    private int asked;
    private boolean closed;

    Engine() {
      engines.add(this);
    }

    @Override
    public EmbeddingDescription start() {
      if (failure != null) {
        throw failure;
      }
      return new EmbeddingDescription(100, 1000, WIDTH);
    }

    @Override
    public Flow.Publisher<EmbeddingOutput> embed(EmbeddingRequest request, RequestContext context) {
      asked++;
      var stream = new ItemStream<EmbeddingOutput>(2, () -> {}, () -> {});
      if (failure == null) {
        stream.offer(
            new EmbeddingOutput(
                request.prompts().stream()
                    .map(prompt -> new float[] {prompt.length, 0, 0, 0})
                    .toList(),
                request.tokens()));
        stream.complete();
      } else {
        stream.fail(failure);
      }
      return stream;
    }

    @Override
    public int running() {
      return 0;
    }

    @Override
    public void close() {
      closed = true;
    }
  }

  @AfterEach
  void close() {
    service.close();
    worker.close();
    assertThat(engines).allMatch(engine -> engine.closed);
  }

  @SuppressWarnings("unchecked") // the endpoint determines the types
  private Embedded ask(int... prompt) {
    var handler = (EndpointHandler<EmbeddingRequest, EmbeddingOutput>) worker.served("embed");
    return Embedded.from(handler.handle(Embedded.request(prompt), Requests.context()));
  }

  private boolean isFound() {
    return worker.records.stream()
        .anyMatch(record -> record instanceof Instance it && it.endpoint().name().equals("embed"));
  }

  private long cards() {
    return worker.records.stream()
        .filter(record -> record instanceof ModelRecord it && it.endpoint().name().equals("embed"))
        .count();
  }

  @Test
  void startedItIsFoundBesideTheOtherEndpointAndAnswers() {
    service.start();
    assertThat(isFound()).isTrue();
    assertThat(cards()).isOne();
    assertThat(worker.isFound()).isTrue();
    assertThat(ask(1, 2, 3).vectors().getFirst()).startsWith(3);
    assertThat(service.state()).isEqualTo(WorkerService.State.SERVING);
  }

  @Test
  void engineThatDoesNotStartLeavesNothingBehind() {
    failure = new IllegalStateException("no server");
    assertThatThrownBy(service::start).hasMessage("no server");
    assertThat(isFound()).isFalse();
    assertThat(cards()).isZero();
    assertThat(service.state()).isEqualTo(WorkerService.State.CLOSED);
  }

  @Test
  void restingItIsNotFoundAndItsCardStaysAndANewEngineAnswersAfterwards() {
    service.start();
    service.rest();
    assertThat(isFound()).isFalse();
    assertThat(cards()).isOne();
    assertThat(engines.getFirst().closed).isTrue();
    assertThatThrownBy(() -> ask(1)).isInstanceOf(WorkerLostException.class);
    worker.alarms.advance(Duration.ofMinutes(5));
    assertThat(engines).as("nobody probes").hasSize(1);

    service.resume();
    assertThat(engines).hasSize(2);
    assertThat(isFound()).isTrue();
    assertThat(ask(1).vectors()).hasSize(1);
    service.resume();
    assertThat(engines).as("once").hasSize(2);
  }

  @Test
  void silenceIsProbedAndAFailureTakesItOutOfDiscoveryUntilAProbeSucceeds() {
    service.start();
    worker.alarms.advance(Duration.ofSeconds(11));
    assertThat(engines.getFirst().asked).isOne();
    assertThat(service.isReady()).isTrue();

    failure = new IllegalStateException("broken");
    assertThat(ask(1).failure()).isInstanceOf(WorkerLostException.class);
    worker.alarms.advance(Duration.ofSeconds(2)); // the suspicion is probed
    assertThat(service.isReady()).isFalse();
    assertThat(isFound()).isFalse();

    failure = null;
    worker.alarms.advance(Duration.ofSeconds(11));
    assertThat(service.isReady()).isTrue();
    assertThat(isFound()).isTrue();
  }

  @Test
  void answerThatNoFrameHoldsIsRefusedWithWhatToDo() {
    service.start();
    var prompts = new int[MAX_ANSWER / WIDTH][];
    Arrays.fill(prompts, new int[] {1});
    assertThatThrownBy(() -> askAll(prompts))
        .isInstanceOf(InvalidRequestException.class)
        .hasMessageContaining("dynamo.request.tcp.max-frame")
        .hasMessageContaining("fewer inputs");
    assertThat(engines.getFirst().asked).isZero();
  }

  @SuppressWarnings("unchecked") // the endpoint determines the types
  private void askAll(int[][] prompts) {
    var handler = (EndpointHandler<EmbeddingRequest, EmbeddingOutput>) worker.served("embed");
    handler.handle(Embedded.request(prompts), Requests.context());
  }

  @Test
  void drainedItHasLeftDiscoveryAndItsEngineIsClosed() throws Exception {
    service.start();
    service.leave();
    assertThat(isFound()).isFalse();
    assertThat(cards()).isZero();
    assertThat(ask(1).vectors()).as("of a requester that knows it").hasSize(1);
    assertThat(service.drain(Deadline.after(Duration.ofSeconds(1)))).isTrue();
    assertThat(engines.getFirst().closed).isTrue();
    service.resume();
    assertThat(engines).as("does not come back").hasSize(1);
  }
}
