package io.dynamo.worker;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import io.dynamo.concurrent.Deadline;
import io.dynamo.error.ErrorCode;
import io.dynamo.error.WorkerLostException;
import io.dynamo.worker.FaultyEngine.Mode;
import io.dynamo.worker.engine.Requests;
import java.time.Duration;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.Test;

class SleepSwitchTest {
  private final FaultyEngine engine = new FaultyEngine();
  private final TestWorker worker = new TestWorker(engine::parts, true).started();

  @AfterEach
  void close() {
    worker.close();
  }

  @Test
  void asleepItIsNotFoundItsCardStaysAndItsStreamsHaveMigrated() {
    engine.mode = Mode.HANGS;
    var running = worker.generate(Requests.of(new int[] {1}, 5));
    assertThat(worker.service.sleep(1)).isTrue();
    assertThat(running.failure())
        .isInstanceOfSatisfying(
            WorkerLostException.class,
            lost -> assertThat(lost.code()).isEqualTo(ErrorCode.BACKEND_ENGINE_SHUTDOWN));
    assertThat(worker.isFound()).isFalse();
    assertThat(worker.cards()).hasSize(1);
    assertThat(worker.service.isReady()).isFalse();
    assertThat(worker.service.isAsleep()).isTrue();
    assertThat(worker.service.sleep(1)).as("a second time").isFalse();
  }

  @Test
  void sleepingWorkerRefusesRequests() {
    worker.service.sleep(1);
    assertThatThrownBy(() -> worker.generate(Requests.of(new int[] {1}, 5)))
        .isInstanceOfSatisfying(
            WorkerLostException.class,
            lost -> assertThat(lost.code()).isEqualTo(ErrorCode.BACKEND_ENGINE_SHUTDOWN))
        .hasMessageContaining("sleeps");
    assertThat(engine.asked).isEmpty();
  }

  @Test
  void nobodyProbesASleepingEngine() {
    worker.service.sleep(1);
    worker.alarms.advance(Duration.ofMinutes(5));
    assertThat(engine.asked).isEmpty();
    assertThat(worker.isFound()).isFalse();
  }

  @Test
  void awakeItIsFoundAgainAndAnswers() {
    worker.service.sleep(1);
    assertThat(worker.service.wake()).isTrue();
    assertThat(worker.isFound()).isTrue();
    assertThat(worker.generate(Requests.of(new int[] {1}, 5)).tokens()).hasSize(2);
    worker.alarms.advance(Duration.ofSeconds(1));
    assertThat(worker.service.isReady()).isTrue();
    assertThat(worker.service.wake()).as("a second time").isFalse();
    assertThat(worker.weightsDropped()).isZero();
  }

  @Test
  void fromLevelTwoOnTheWeightsGo() {
    worker.service.sleep(2);
    assertThat(worker.weightsDropped()).isEqualTo(1);
  }

  @Test
  void aSleepingWorkerDrainsAndDoesNotWake() throws Exception {
    worker.service.sleep(1);
    assertThat(worker.service.drain(Deadline.after(Duration.ofSeconds(1)))).isTrue();
    assertThatThrownBy(worker.service::wake).isInstanceOf(IllegalStateException.class);
    assertThat(worker.records).isEmpty();
  }
}
