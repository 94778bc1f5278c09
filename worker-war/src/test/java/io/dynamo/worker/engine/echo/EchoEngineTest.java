package io.dynamo.worker.engine.echo;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import io.dynamo.error.DeadlineExceededException;
import io.dynamo.error.WorkerBusyException;
import io.dynamo.inference.FinishReason;
import io.dynamo.worker.engine.Collected;
import io.dynamo.worker.engine.EngineContract;
import io.dynamo.worker.engine.ManualPacer;
import io.dynamo.worker.engine.Requests;
import java.time.Duration;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;

class EchoEngineTest {
  private final ManualPacer time = new ManualPacer();
  private final EchoEngine engine =
      new EchoEngine(new EchoEngine.Config(100, 16, 2, Duration.ofMillis(10), 4), time);

  @BeforeEach
  void start() {
    engine.start(EngineContract.DEAF);
  }

  @AfterEach
  void close() {
    engine.close();
  }

  @Test
  void promptComesBackAtItsPaceAndStops() {
    var got =
        Collected.all(engine.generate(Requests.of(new int[] {7, 8, 9}, null), Requests.context()));
    time.settle();
    assertThat(got.tokens()).containsExactly(7);
    time.advance(Duration.ofMillis(10));
    assertThat(got.tokens()).containsExactly(7, 8);
    time.advance(Duration.ofMillis(10));
    assertThat(got.tokens()).containsExactly(7, 8, 9);
    assertThat(got.last().finishReason()).isEqualTo(FinishReason.STOP);
  }

  @Test
  void budgetCutsTheEcho() {
    var got =
        Collected.all(engine.generate(Requests.of(new int[] {7, 8, 9}, 2), Requests.context()));
    time.advance(Duration.ofSeconds(1));
    assertThat(got.tokens()).containsExactly(7, 8);
    assertThat(got.last().finishReason()).isEqualTo(FinishReason.LENGTH);
  }

  @Test
  void deadlineEndsWhatNobodyReads() {
    var request = Requests.of(Requests.prompt(1, 50), null);
    var got = Collected.from(engine.generate(request, Requests.context(Duration.ofSeconds(1))), 0);
    time.advance(Duration.ofSeconds(2));
    assertThat(engine.running()).isZero();
    got.request(100);
    assertThat(got.tokens()).hasSize(4);
    assertThat(got.failure()).isInstanceOf(DeadlineExceededException.class);
  }

  @Test
  void oneTooManyIsSentElsewhere() {
    var request = Requests.of(Requests.prompt(1, 50), null);
    Collected.all(engine.generate(request, Requests.context()));
    Collected.all(engine.generate(request, Requests.context()));
    assertThatThrownBy(() -> engine.generate(request, Requests.context()))
        .isInstanceOf(WorkerBusyException.class);
  }
}
