package io.dynamo.request.tcp;

import static java.nio.charset.StandardCharsets.UTF_8;
import static java.util.Objects.requireNonNull;
import static org.assertj.core.api.Assertions.assertThat;

import io.dynamo.concurrent.Cancellation;
import io.dynamo.concurrent.Deadline;
import io.dynamo.concurrent.ItemStream;
import io.dynamo.config.plane.AdmissionSettings;
import io.dynamo.discovery.EndpointId;
import io.dynamo.discovery.Instance;
import io.dynamo.error.CancelledException;
import io.dynamo.error.DeadlineExceededException;
import io.dynamo.error.EngineFailedException;
import io.dynamo.error.ErrorCode;
import io.dynamo.error.WorkerBusyException;
import io.dynamo.error.WorkerLostException;
import io.dynamo.inference.EngineOutput;
import io.dynamo.metrics.Metrics;
import io.dynamo.metrics.TransportMetrics;
import io.dynamo.request.EndpointServer;
import io.dynamo.request.RequestContext;
import io.dynamo.wire.Golden;
import io.dynamo.wire.request.ControlMessage;
import io.dynamo.wire.request.RequestHeaders;
import java.nio.ByteBuffer;
import java.time.Duration;
import java.util.Map;
import java.util.concurrent.ArrayBlockingQueue;
import java.util.concurrent.BlockingQueue;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.CountDownLatch;
import java.util.concurrent.Flow;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.atomic.AtomicReference;
import java.util.concurrent.locks.LockSupport;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;

/** Strict admission: one request runs, two wait, more are refused. */
class TcpAdmissionTest {
  private static final EndpointId QUERIES = new EndpointId("dynamo", "backend", "queries");

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

  private Collector<EngineOutput> ask(EndpointServer.Served queries) {
    return Collector.all(
        plane.call(
            new Instance(QUERIES, TestPlane.ID, queries.address(), "cpu", plane.settings.format()),
            TestPlane.context()));
  }

  @Test
  void anEndpointWithRoomOfItsOwnAnswersBesideALoadedEngine() throws Exception {
    var queries =
        plane.server.serve(
            QUERIES,
            TestPlane.ID,
            (_, _) -> {
              var answer = new ItemStream<EngineOutput>(8, () -> {}, () -> {});
              answer.offer(EngineOutput.ofTokens(7));
              answer.complete();
              return answer;
            },
            TestPlane.CODEC,
            EndpointServer.Room.OWN);
    var first = call("first");
    var head = next();
    var second = call("second");
    awaitWaiting(1);
    var third = call("third");
    awaitWaiting(2);

    assertThat(ask(queries).awaitCompletion()).hasSize(1);
    assertThat(plane.metrics.level(TransportMetrics.POOL_ACTIVE).value()).isEqualTo(1);
    assertThat(plane.metrics.counter(TransportMetrics.REJECTED).value()).isZero();

    head.answer().complete();
    first.awaitCompletion();
    next().answer().complete();
    second.awaitCompletion();
    next().answer().complete();
    third.awaitCompletion();
  }

  @Test
  void roomOfItsOwnIsBoundedToo() throws Exception {
    var asked = new CountDownLatch(256);
    var queries =
        plane.server.serve(
            QUERIES,
            TestPlane.ID,
            (_, _) -> {
              var answer = new ItemStream<EngineOutput>(8, () -> {}, () -> {});
              asked.countDown();
              return answer;
            },
            TestPlane.CODEC,
            EndpointServer.Room.OWN);
    for (int i = 0; i < 256; i++) {
      var _ = ask(queries);
    }
    assertThat(asked.await(TestPlane.PATIENCE.toMillis(), TimeUnit.MILLISECONDS)).isTrue();
    assertThat(ask(queries).awaitFailure()).isInstanceOf(WorkerBusyException.class);
    assertThat(plane.metrics.counter(TransportMetrics.REJECTED).value()).isEqualTo(1);
  }

  @Test
  void anEndpointThatRefusesGivesThePlaceUpOutsideItsLock() {
    var limits =
        new Admission(
            new AdmissionSettings(1, 1), new ByteBudget(1000), new Metrics(), System::nanoTime);
    var turns = new ArrayBlockingQueue<Integer>(1);
    var itself = new AtomicReference<TcpEndpoint<?, ?>>();
    var endpoint =
        new TcpEndpoint<>(
            plane.server,
            "no/such/path",
            served.address(),
            limits,
            (control, body) -> {
              requireNonNull(limits.enter(1)).whenTurn(() -> turns.add(inFlight(itself.get())));
              return new OneItem<>(
                  (_, _) -> new ItemStream<EngineOutput>(1, () -> {}, () -> {}),
                  TestPlane.CODEC,
                  control,
                  body);
            },
            TestPlane.CODEC,
            new EndpointMeters(new Metrics(), TestPlane.ENDPOINT, TestPlane.ID));
    itself.set(endpoint);
    endpoint.close();

    var captured = Golden.request("bidirectional").payload().header();
    var control = ControlMessage.ofJson(ByteBuffer.wrap(captured));
    var headers = RequestHeaders.ofJson("{}".getBytes(UTF_8));
    assertThat(endpoint.accept(control, headers, new byte[0], 0, _ -> {})).isNotEmpty();
    assertThat(turns).containsExactly(0);
  }

  /** As another thread sees it, which waits for the endpoint's lock. */
  private static int inFlight(TcpEndpoint<?, ?> endpoint) {
    return CompletableFuture.supplyAsync(endpoint::inFlight, Thread::startVirtualThread)
        .orTimeout(TestPlane.PATIENCE.toMillis(), TimeUnit.MILLISECONDS)
        .join();
  }

  private static void assertShutDown(Collector<?> caller) throws InterruptedException {
    assertThat(caller.awaitFailure())
        .isInstanceOfSatisfying(
            WorkerLostException.class,
            lost -> assertThat(lost.code()).isEqualTo(ErrorCode.BACKEND_ENGINE_SHUTDOWN));
  }

  /** A publisher that breaks its contract, in each of the ways that it can. */
  private static Flow.Publisher<EngineOutput> broken(String way) {
    return switch (way) {
      case "subscribe throws" ->
          _ -> {
            throw new IllegalStateException("no subscribers here");
          };
      case "subscribe throws an error" ->
          _ -> {
            throw new AssertionError("no subscribers here");
          };
      case "request throws" ->
          subscriber ->
              subscriber.onSubscribe(
                  new Flow.Subscription() {
                    @Override
                    public void request(long n) {
                      throw new NoClassDefFoundError("no demand here");
                    }

                    @Override
                    public void cancel() {
                      throw new IllegalStateException("no cancel either");
                    }
                  });
      case "handle throws an error" -> throw new StackOverflowError();
      default -> throw new IllegalArgumentException(way);
    };
  }

  @ParameterizedTest
  @ValueSource(
      strings = {
        "subscribe throws",
        "subscribe throws an error",
        "request throws",
        "handle throws an error"
      })
  void aHandlerThatFailsInAnyWayGivesItsPlaceBackAndTellsTheRequester(String way) throws Exception {
    var failing = plane.server.serve(QUERIES, TestPlane.ID, (_, _) -> broken(way), TestPlane.CODEC);
    for (int i = 0; i < 5; i++) { // more than run and wait together
      assertThat(Collector.all(plane.call(failing)).awaitFailure())
          .as("%s, call %d", way, i)
          .isInstanceOf(EngineFailedException.class);
    }
    assertThat(failing.drain(Deadline.after(TestPlane.PATIENCE))).isTrue();

    var after = call("after");
    next().answer().complete();
    after.awaitCompletion();
    awaitNothingActive();
  }

  /** The requester has its answer a moment before the place is given back. */
  private void awaitNothingActive() {
    var active = plane.metrics.level(TransportMetrics.POOL_ACTIVE);
    long until = System.nanoTime() + TestPlane.PATIENCE.toNanos();
    while (active.value() != 0 && System.nanoTime() < until) {
      LockSupport.parkNanos(1_000_000);
    }
    assertThat(active.value()).isZero();
  }
}
