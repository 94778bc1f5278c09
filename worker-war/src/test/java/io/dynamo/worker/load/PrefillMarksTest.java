package io.dynamo.worker.load;

import static org.assertj.core.api.Assertions.assertThat;

import io.dynamo.concurrent.ItemStream;
import io.dynamo.discovery.EndpointId;
import io.dynamo.discovery.InstanceId;
import io.dynamo.event.EventSubject;
import io.dynamo.inference.EngineOutput;
import io.dynamo.inference.FinishReason;
import io.dynamo.kv.PrefillCompleted;
import io.dynamo.kv.WorkerRank;
import io.dynamo.metrics.Metrics;
import io.dynamo.metrics.WorkerMetrics;
import io.dynamo.wire.kv.SequenceEventCodec;
import io.dynamo.worker.SentPlane;
import io.dynamo.worker.engine.Collected;
import io.dynamo.worker.engine.Requests;
import java.util.ArrayDeque;
import java.util.Collections;
import java.util.Queue;
import org.junit.jupiter.api.Test;

class PrefillMarksTest {
  private static final EndpointId ENDPOINT = new EndpointId("n", "c", "e");
  private static final InstanceId WORKER = new InstanceId(7);
  private static final PrefillCompleted MARK =
      new PrefillCompleted("r", new WorkerRank(WORKER, 0), WORKER);

  private final SentPlane plane = new SentPlane();
  private final Queue<Runnable> tasks = new ArrayDeque<>();
  private final Metrics.Counter dropped =
      new Metrics().counter(WorkerMetrics.PREFILL_MARKS_DROPPED);
  private final PrefillMarks marks = marks(1);

  private PrefillMarks marks(int ranks) {
    return new PrefillMarks(plane, ENDPOINT, WORKER, ranks, tasks::add, dropped);
  }

  private void runTasks() {
    for (var task = tasks.poll(); task != null; task = tasks.poll()) {
      task.run();
    }
  }

  /** Collects the answer of a generation of three items, the first without a token. */
  private static Collected generate(PrefillMarks marks) {
    var stream = new ItemStream<EngineOutput>(3, () -> {}, () -> {});
    var watched = marks.watch((_, _) -> stream);
    var collected =
        Collected.all(watched.handle(Requests.of(Requests.prompt(0, 4), 3), Requests.context()));
    stream.offer(EngineOutput.ofTokens());
    stream.offer(EngineOutput.ofTokens(1));
    stream.offer(EngineOutput.finish(FinishReason.LENGTH, null, 2));
    stream.complete();
    return collected;
  }

  @Test
  void theFirstTokenIsToldOnceAndTheStreamGoesOn() {
    assertThat(generate(marks).tokens()).containsExactly(1, 2);
    runTasks();

    assertThat(plane.sent).containsExactly(SequenceEventCodec.encode(Collections.nCopies(1, MARK)));
    assertThat(plane.subjects)
        .containsExactly(new EventSubject(ENDPOINT, "active_sequences_events"));
  }

  @Test
  void aRankThatNobodyNamedIsNotTold() {
    assertThat(generate(marks(2)).tokens()).containsExactly(1, 2);

    assertThat(tasks).isEmpty();
  }

  @Test
  void aMessageHoldsAtMost256Marks() {
    for (int i = 0; i < 300; i++) {
      generate(marks);
    }
    assertThat(tasks).as("one task for all").hasSize(1);
    runTasks();

    assertThat(plane.sent)
        .containsExactly(
            SequenceEventCodec.encode(Collections.nCopies(256, MARK)),
            SequenceEventCodec.encode(Collections.nCopies(44, MARK)));
  }

  @Test
  void marksInExcessAreDroppedAndCounted() {
    for (int i = 0; i < PrefillMarks.WAITING + 3; i++) {
      generate(marks);
    }
    assertThat(dropped.value()).isEqualTo(3);
    runTasks();
    assertThat(plane.sent).hasSize(PrefillMarks.WAITING / PrefillMarks.BATCH);
  }

  @Test
  void failedSendsAreCountedAndTheNextIsSent() {
    plane.broken = true;
    generate(marks);
    runTasks();
    assertThat(dropped.value()).isEqualTo(1);

    plane.broken = false;
    generate(marks);
    runTasks();
    assertThat(plane.sent).hasSize(1);
  }

  @Test
  void closedMarksAreNotTold() {
    generate(marks);
    marks.close();
    marks.close();
    runTasks();

    assertThat(plane.sent).isEmpty();
    assertThat(plane.closed).isEqualTo(1);
  }
}
