package io.dynamo.worker.load;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatCode;

import io.dynamo.discovery.EndpointId;
import io.dynamo.discovery.InstanceId;
import io.dynamo.event.EventSubject;
import io.dynamo.kv.ForwardPass;
import io.dynamo.kv.ForwardPass.Work;
import io.dynamo.kv.WorkerRank;
import io.dynamo.metrics.Metrics;
import io.dynamo.metrics.WorkerMetrics;
import io.dynamo.wire.kv.ForwardPassCodec;
import io.dynamo.worker.HandAlarms;
import io.dynamo.worker.SentPlane;
import io.dynamo.worker.engine.PassReport;
import java.util.ArrayDeque;
import java.util.ArrayList;
import java.util.List;
import java.util.Queue;
import java.util.concurrent.RejectedExecutionException;
import org.junit.jupiter.api.Test;

class ForwardPassesTest {
  private static final EndpointId ENDPOINT = new EndpointId("n", "c", "e");
  private static final InstanceId WORKER = new InstanceId(7);
  private static final ForwardPass PASS =
      new ForwardPass(0.5, new Work(1, 2, 0, 3, 4, 5, 6), Work.NONE);

  private final SentPlane plane = new SentPlane();
  private final HandAlarms alarms = new HandAlarms();
  private final Queue<Runnable> tasks = new ArrayDeque<>();
  private final List<PassReport.Listener> engine = new ArrayList<>();
  private final Metrics.Counter dropped =
      new Metrics().counter(WorkerMetrics.FORWARD_PASSES_DROPPED);
  private boolean executorStopped;
  private final ForwardPasses passes =
      new ForwardPasses(plane, ENDPOINT, WORKER, 2, engine::add, alarms, this::execute, dropped);

  private void execute(Runnable task) {
    if (executorStopped) {
      throw new RejectedExecutionException("stopped");
    }
    tasks.add(task);
  }

  private void runTasks() {
    for (var task = tasks.poll(); task != null; task = tasks.poll()) {
      task.run();
    }
  }

  private List<byte[]> sent() {
    runTasks();
    var sent = List.copyOf(plane.sent);
    plane.sent.clear();
    return sent;
  }

  private static byte[] message(int rank, long counter, ForwardPass pass) {
    return ForwardPassCodec.encode(new WorkerRank(WORKER, rank), counter, pass);
  }

  @Test
  void passesAreToldInOrderAndCountedPerRank() {
    passes.start();
    sent();

    engine.getFirst().passed(1, PASS);
    engine.getFirst().passed(0, PASS);
    engine.getFirst().passed(1, ForwardPass.IDLE);

    assertThat(sent())
        .containsExactly(message(1, 2, PASS), message(0, 2, PASS), message(1, 3, ForwardPass.IDLE));
    assertThat(plane.subjects).containsExactly(new EventSubject(ENDPOINT, "forward-pass-metrics"));
  }

  @Test
  void anIdleRankGivesASignOfLifeOnceASecond() {
    passes.start();
    assertThat(sent())
        .containsExactly(message(0, 1, ForwardPass.IDLE), message(1, 1, ForwardPass.IDLE));

    engine.getFirst().passed(1, PASS);
    sent();
    alarms.advance(ForwardPasses.HEARTBEAT);
    assertThat(sent()).containsExactly(message(0, 2, ForwardPass.IDLE));

    alarms.advance(ForwardPasses.HEARTBEAT);
    assertThat(sent())
        .containsExactly(message(0, 3, ForwardPass.IDLE), message(1, 3, ForwardPass.IDLE));
  }

  @Test
  void passesThatFindTheQueueFullAreCountedAndTheEngineGoesOn() {
    passes.start();
    sent();

    for (int i = 0; i < ForwardPasses.WAITING + 3; i++) {
      engine.getFirst().passed(0, PASS);
    }

    assertThat(dropped.value()).isEqualTo(3);
    assertThat(sent()).hasSize(ForwardPasses.WAITING);
  }

  @Test
  void failedPublicationsAreCountedAndTheNextIsSent() {
    passes.start();
    sent();
    plane.broken = true;
    engine.getFirst().passed(0, PASS);
    sent();
    plane.broken = false;

    engine.getFirst().passed(0, PASS);

    assertThat(dropped.value()).isEqualTo(1);
    assertThat(sent()).containsExactly(message(0, 3, PASS));
  }

  @Test
  void aStoppedExecutorIsNoTroubleForTheEngine() {
    passes.start();
    executorStopped = true;

    assertThatCode(() -> engine.getFirst().passed(0, PASS)).doesNotThrowAnyException();
  }

  @Test
  void aClosedOneIsSilent() {
    passes.start();
    sent();
    engine.getFirst().passed(0, PASS);
    passes.close();
    passes.close();

    alarms.advance(ForwardPasses.HEARTBEAT.multipliedBy(3));
    passes.start();

    assertThat(sent()).isEmpty();
    assertThat(alarms.waiting()).isZero();
    assertThat(plane.closed).isEqualTo(1);
    assertThat(engine).hasSize(1);
  }
}
