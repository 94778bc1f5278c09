package io.dynamo.request.tcp;

import static org.assertj.core.api.Assertions.assertThat;

import io.dynamo.concurrent.Cancellation;
import io.dynamo.concurrent.Deadline;
import io.dynamo.concurrent.ItemStream;
import io.dynamo.error.CancelledException;
import io.dynamo.error.DeadlineExceededException;
import io.dynamo.error.ErrorCode;
import io.dynamo.error.WorkerBusyException;
import io.dynamo.error.WorkerLostException;
import io.dynamo.inference.EngineOutput;
import io.dynamo.metrics.Metrics;
import io.dynamo.metrics.TransportMetrics;
import io.dynamo.request.EndpointServer;
import io.dynamo.request.RequestContext;
import java.time.Duration;
import java.util.Map;
import java.util.concurrent.ArrayBlockingQueue;
import java.util.concurrent.BlockingQueue;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.locks.LockSupport;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.Test;

/** Strict admission: one request runs, two wait, more are refused. */
class TcpAdmissionTest {
  private record Running(String id, ItemStream<EngineOutput> answer) {}

  private final TestPlane plane = new TestPlane(TestPlane.admitting(1, 2));
  private final BlockingQueue<Running> running = new ArrayBlockingQueue<>(16);
  private final EndpointServer.Served served =
      plane.serve(
          (request, context) -> {
            var answer = new ItemStream<EngineOutput>(8, () -> {}, () -> {});
            running.add(new Running(context.id(), answer));
            return answer;
          });

  @AfterEach
  void closePlane() {
    plane.close();
  }

  private Collector<EngineOutput> call(String id, Cancellation cancellation, Duration patience) {
    return Collector.all(
        plane.call(
            plane.instance(served),
            new RequestContext(id, Map.of(), Map.of(), Deadline.after(patience), cancellation)));
  }

  private Collector<EngineOutput> call(String id) {
    return call(id, new Cancellation(), TestPlane.PATIENCE);
  }

  private Running next() throws InterruptedException {
    var next = running.poll(TestPlane.PATIENCE.toMillis(), TimeUnit.MILLISECONDS);
    if (next == null) {
      throw new AssertionError("no request reaches the handler");
    }
    return next;
  }

  private Metrics.Level depth() {
    return plane.metrics.level(TransportMetrics.QUEUE_DEPTH);
  }

  private void awaitWaiting(long count) {
    long patience = System.nanoTime() + TestPlane.PATIENCE.toNanos();
    while (depth().value() != count) {
      assertThat(System.nanoTime() - patience).as("waiting: %s", depth().value()).isNegative();
      LockSupport.parkNanos(1_000_000);
    }
  }

  @Test
  void waitingRequestsRunInTheOrderTheyCame() throws Exception {
    var first = call("first");
    var head = next();
    var second = call("second");
    awaitWaiting(1);
    var third = call("third");
    awaitWaiting(2);
    assertThat(call("fourth").awaitFailure()).isInstanceOf(WorkerBusyException.class);
    assertThat(plane.metrics.counter(TransportMetrics.REJECTED).value()).isEqualTo(1);

    head.answer().complete();
    first.awaitCompletion();
    var middle = next();
    assertThat(middle.id()).isEqualTo("second");
    assertThat(running).isEmpty();
    middle.answer().complete();
    second.awaitCompletion();
    var last = next();
    assertThat(last.id()).isEqualTo("third");
    last.answer().complete();
    third.awaitCompletion();
    assertThat(served.drain(Deadline.after(TestPlane.PATIENCE))).isTrue();
    assertThat(plane.metrics.level(TransportMetrics.POOL_ACTIVE).value()).isZero();
  }

  @Test
  void aRequesterThatGivesUpLeavesTheQueue() throws Exception {
    for (var level : new Cancellation.Level[] {Cancellation.Level.STOP, Cancellation.Level.KILL}) {
      var first = call("first");
      var head = next();
      var cancellation = new Cancellation();
      var gone = call("gone", cancellation, TestPlane.PATIENCE);
      awaitWaiting(1);
      var third = call("third");
      awaitWaiting(2);
      if (level == Cancellation.Level.STOP) {
        cancellation.stop();
      } else {
        cancellation.kill();
      }
      assertThat(gone.awaitFailure()).isInstanceOf(CancelledException.class);
      awaitWaiting(1);
      head.answer().complete();
      first.awaitCompletion();
      var after = next();
      assertThat(after.id()).isEqualTo("third");
      after.answer().complete();
      third.awaitCompletion();
    }
    assertThat(running).isEmpty();
  }

  @Test
  void aRequestWhoseDeadlinePassesLeavesTheQueue() throws Exception {
    var first = call("first");
    var head = next();
    var late = call("late", new Cancellation(), Duration.ofMillis(150));
    assertThat(late.awaitFailure()).isInstanceOf(DeadlineExceededException.class);
    awaitWaiting(0);
    head.answer().complete();
    first.awaitCompletion();
    assertThat(running).isEmpty();
  }

  @Test
  void closingTheEndpointSendsTheQueueElsewhere() throws Exception {
    var first = call("first");
    next().answer().offer(EngineOutput.ofTokens(1));
    first.awaitItems(1);
    var second = call("second");
    awaitWaiting(1);
    served.close();
    assertShutDown(first);
    assertShutDown(second);
    awaitWaiting(0);
    assertThat(running).isEmpty();
  }

  private static void assertShutDown(Collector<?> caller) throws InterruptedException {
    assertThat(caller.awaitFailure())
        .isInstanceOfSatisfying(
            WorkerLostException.class,
            lost -> assertThat(lost.code()).isEqualTo(ErrorCode.BACKEND_ENGINE_SHUTDOWN));
  }
}
