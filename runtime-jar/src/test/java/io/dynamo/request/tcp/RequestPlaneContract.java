package io.dynamo.request.tcp;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import io.dynamo.concurrent.Cancellation;
import io.dynamo.concurrent.Deadline;
import io.dynamo.concurrent.ItemStream;
import io.dynamo.config.plane.TcpSettings;
import io.dynamo.discovery.Instance;
import io.dynamo.discovery.InstanceId;
import io.dynamo.error.CancelledException;
import io.dynamo.error.DeadlineExceededException;
import io.dynamo.error.DynamoException;
import io.dynamo.error.EngineFailedException;
import io.dynamo.error.ErrorCode;
import io.dynamo.error.InvalidRequestException;
import io.dynamo.error.WorkerBusyException;
import io.dynamo.error.WorkerLostException;
import io.dynamo.event.Until;
import io.dynamo.inference.EngineOutput;
import io.dynamo.inference.FinishReason;
import io.dynamo.inference.Usage;
import io.dynamo.metrics.TransportMetrics;
import io.dynamo.net.PayloadFormat;
import io.dynamo.request.EndpointServer;
import io.dynamo.request.RequestContext;
import io.dynamo.testing.ManualClock;
import java.time.Duration;
import java.util.Map;
import java.util.concurrent.ArrayBlockingQueue;
import java.util.concurrent.BlockingQueue;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.Flow;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.atomic.AtomicBoolean;
import java.util.concurrent.atomic.AtomicInteger;
import java.util.function.LongSupplier;
import org.jspecify.annotations.Nullable;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.EnumSource;

/** Client and server of ours against each other, as every request plane must behave. */
abstract class RequestPlaneContract {
  @SuppressWarnings("NullAway.Init") // before each
  TestPlane plane;

  private final BlockingQueue<Running> running = new ArrayBlockingQueue<>(64);

  /** A request that the handler has, and the stream that answers it. */
  record Running(RequestContext context, ItemStream<EngineOutput> answer) {}

  /** Opens a plane on the transport under test. */
  abstract TestPlane open(TcpSettings settings, LongSupplier nanoTime);

  /** An instance in discovery that nobody serves any more. */
  abstract Instance absent() throws Exception;

  /** An instance whose worker takes requests and never answers. */
  abstract Instance silent() throws Exception;

  @BeforeEach
  void openPlane() {
    plane = open(TestPlane.settings(PayloadFormat.MSGPACK, 1 << 20, 8), System::nanoTime);
  }

  @AfterEach
  void closePlane() {
    plane.close();
  }

  final void restart(TcpSettings settings) {
    restart(settings, System::nanoTime);
  }

  private void restart(TcpSettings settings, LongSupplier nanoTime) {
    plane.close();
    plane = open(settings, nanoTime);
  }

  /** Serves with streams that the test feeds. */
  final EndpointServer.Served serveByHand(int capacity) {
    return plane.serve(
        (request, context) -> {
          var answer = new ItemStream<EngineOutput>(capacity, () -> {}, () -> {});
          running.add(new Running(context, answer));
          return answer;
        });
  }

  final Running next() throws InterruptedException {
    var next = running.poll(TestPlane.PATIENCE.toMillis(), TimeUnit.MILLISECONDS);
    assertThat(next).as("a request reaches the handler").isNotNull();
    if (next == null) {
      throw new AssertionError();
    }
    return next;
  }

  /** The next request, if it comes within a moment. */
  final @Nullable Running poll() throws InterruptedException {
    return running.poll(100, TimeUnit.MILLISECONDS);
  }

  private static CompletableFuture<Cancellation.Level> cancelled(Running request) {
    var level = new CompletableFuture<Cancellation.Level>();
    request.context().cancellation().onCancel(level::complete);
    return level;
  }

  private static Cancellation.Level await(CompletableFuture<Cancellation.Level> level)
      throws Exception {
    return level.get(TestPlane.PATIENCE.toMillis(), TimeUnit.MILLISECONDS);
  }

  @ParameterizedTest
  @EnumSource(PayloadFormat.class)
  void itemsArriveInOrderAndTheStreamCompletes(PayloadFormat format) throws Exception {
    restart(TestPlane.settings(format, 1 << 20, 8));
    var served = serveByHand(8);
    var caller = Collector.all(plane.call(served));
    var request = next();
    request.answer().offer(EngineOutput.ofTokens(1484));
    request.answer().offer(EngineOutput.ofTokens(7, 8));
    request.answer().offer(EngineOutput.finish(FinishReason.LENGTH, new Usage(3, 3, 0)));
    request.answer().complete();

    var items = caller.awaitCompletion();
    assertThat(items).hasSize(3);
    assertThat(items.get(0).tokenIds()).containsExactly(1484);
    assertThat(items.get(1).tokenIds()).containsExactly(7, 8);
    assertThat(items.get(2).finishReason()).isEqualTo(FinishReason.LENGTH);
    assertThat(items.get(2).usage()).isEqualTo(new Usage(3, 3, 0));
    assertThat(request.context().id()).isEqualTo(TestPlane.context().id());
    assertThat(request.context().metadata()).isEqualTo(Map.of("tenant", "blue"));
    assertThat(request.context().headers()).isEqualTo(TestPlane.context().headers());
    assertThat(served.drain(Deadline.after(TestPlane.PATIENCE))).isTrue();
  }

  @Test
  void aReaderThatStopsHoldsTheHandlerBack() throws Exception {
    var produced = new AtomicInteger();
    var served = plane.serve((request, context) -> new Endless(produced));
    var caller = Collector.of(plane.call(served), 1);
    caller.awaitItems(1);
    int settled = Endless.awaitStandstill(produced);
    assertThat(caller.items()).hasSize(1);
    assertThat(settled).as("items held by sockets and buffers").isLessThan(200_000);

    caller.request(settled);
    caller.awaitItems(settled);
    int expected = 0;
    for (var item : caller.items()) {
      assertThat(item.tokenIds()[0]).isEqualTo(expected++);
    }
    caller.cancel();
  }

  @Test
  void aCancelledSubscriptionKillsTheRequest() throws Exception {
    var caller = Collector.all(plane.call(serveByHand(8)));
    var request = next();
    var level = cancelled(request);
    request.answer().offer(EngineOutput.ofTokens(1));
    caller.awaitItems(1);
    caller.cancel();
    assertThat(await(level)).isEqualTo(Cancellation.Level.KILL);
    assertThat(caller.hasEnded()).isFalse();
  }

  @Test
  void aStopReachesTheHandlerAndItsLastItemsArrive() throws Exception {
    var cancellation = new Cancellation();
    var served = serveByHand(8);
    var caller = Collector.all(plane.call(plane.instance(served), TestPlane.context(cancellation)));
    var request = next();
    var level = cancelled(request);
    request.answer().offer(EngineOutput.ofTokens(1));
    caller.awaitItems(1);
    cancellation.stop();
    assertThat(await(level)).isEqualTo(Cancellation.Level.STOP);
    request.answer().offer(EngineOutput.finish(FinishReason.CANCELLED, null));
    request.answer().complete();
    assertThat(caller.awaitCompletion()).hasSize(2);
  }

  @Test
  void aKillEndsTheStreamAtOnce() throws Exception {
    var cancellation = new Cancellation();
    var served = serveByHand(8);
    var caller = Collector.all(plane.call(plane.instance(served), TestPlane.context(cancellation)));
    var level = cancelled(next());
    cancellation.kill();
    assertThat(caller.awaitFailure()).isInstanceOf(CancelledException.class);
    assertThat(await(level)).isEqualTo(Cancellation.Level.KILL);
    assertThat(served.drain(Deadline.after(TestPlane.PATIENCE))).isTrue();
  }

  @Test
  void aCallThatIsCancelledBeforeItStartsSendsNothing() throws Exception {
    var cancellation = new Cancellation();
    cancellation.kill();
    var served = serveByHand(8);
    var caller = Collector.all(plane.call(plane.instance(served), TestPlane.context(cancellation)));
    assertThat(caller.awaitFailure()).isInstanceOf(CancelledException.class);
    assertThat(plane.client.inFlight()).isZero();
    assertThat(plane.client.connections()).isZero();
  }

  @Test
  void aRefusalOfTheHandlerKeepsItsKindAndItsText() throws Exception {
    var served =
        plane.serve(
            (request, context) -> {
              throw new InvalidRequestException("the prompt is too long");
            });
    assertThat(Collector.all(plane.call(served)).awaitFailure())
        .isInstanceOf(InvalidRequestException.class)
        .hasMessage("the prompt is too long");
  }

  @Test
  void anErrorOfTheEngineFollowsTheItemsBeforeIt() throws Exception {
    var caller = Collector.all(plane.call(serveByHand(8)));
    var request = next();
    request.answer().offer(EngineOutput.ofTokens(5));
    request
        .answer()
        .fail(new EngineFailedException(ErrorCode.BACKEND_UNKNOWN, "out of memory", null));
    assertThat(caller.awaitFailure())
        .isInstanceOf(EngineFailedException.class)
        .hasMessage("out of memory");
    assertThat(caller.items()).hasSize(1);
  }

  @Test
  void closingTheEndpointLetsItsRequestsMigrate() throws Exception {
    var served = serveByHand(8);
    var caller = Collector.all(plane.call(served));
    next().answer().offer(EngineOutput.ofTokens(5));
    caller.awaitItems(1);
    served.close();
    assertThat(caller.awaitFailure())
        .isInstanceOfSatisfying(
            WorkerLostException.class,
            lost -> assertThat(lost.code()).isEqualTo(ErrorCode.BACKEND_ENGINE_SHUTDOWN));
    assertThat(caller.items()).hasSize(1);
  }

  @Test
  void aDrainedEndpointRefusesNewRequestsAndFinishesTheOld() throws Exception {
    var served = serveByHand(8);
    var old = Collector.all(plane.call(served));
    var request = next();
    assertThat(served.drain(Deadline.after(Duration.ofMillis(20)))).isFalse();
    assertThat(Collector.all(plane.call(served)).awaitFailure())
        .isInstanceOfSatisfying(
            WorkerLostException.class,
            lost -> assertThat(lost.code()).isEqualTo(ErrorCode.WORKER_UNAVAILABLE));
    request.answer().complete();
    old.awaitCompletion();
    assertThat(served.drain(Deadline.after(TestPlane.PATIENCE))).isTrue();
    assertThat(served.inFlight()).isZero();
  }

  @Test
  void aFullWorkerRefusesAndRecovers() throws Exception {
    restart(TestPlane.settings(PayloadFormat.MSGPACK, 1 << 20, 1));
    var served = serveByHand(8);
    var first = Collector.all(plane.call(served));
    var request = next();
    assertThat(Collector.all(plane.call(served)).awaitFailure())
        .isInstanceOf(WorkerBusyException.class);
    request.answer().complete();
    first.awaitCompletion();
    Until.holds(() -> served.inFlight() == 0); // its place is free
    var third = Collector.all(plane.call(served));
    next().answer().complete();
    third.awaitCompletion();
    assertThat(plane.metrics.counter(TransportMetrics.REJECTED).value()).isEqualTo(1);
  }

  /** Ways in which the code of an engine may break while a request is handed to it. */
  enum Fault {
    HANDLER_THROWS,
    HANDLER_THROWS_ERROR,
    SUBSCRIBE_THROWS,
    SUBSCRIBE_THROWS_ERROR,
    SUBSCRIBE_THROWS_AFTER_ITS_SUBSCRIPTION,
    CANCEL_THROWS;

    /** The answer of a handler that breaks in this way. */
    Flow.Publisher<EngineOutput> answer() {
      return switch (this) {
        case HANDLER_THROWS -> throw new IllegalStateException("broken");
        case HANDLER_THROWS_ERROR -> throw new StackOverflowError("broken");
        case SUBSCRIBE_THROWS ->
            _ -> {
              throw new IllegalStateException("broken");
            };
        case SUBSCRIBE_THROWS_ERROR ->
            _ -> {
              throw new StackOverflowError("broken");
            };
        case SUBSCRIBE_THROWS_AFTER_ITS_SUBSCRIPTION ->
            to -> {
              to.onSubscribe(new Broken(false));
              throw new IllegalStateException("broken");
            };
        case CANCEL_THROWS ->
            to -> {
              to.onSubscribe(new Broken(true));
              throw new IllegalStateException("broken");
            };
      };
    }

    /** A subscription without items. */
    private record Broken(boolean isCancelBroken) implements Flow.Subscription {
      @Override
      public void request(long n) {}

      @Override
      public void cancel() {
        if (isCancelBroken) {
          throw new IllegalStateException("broken");
        }
      }
    }
  }

  @ParameterizedTest
  @EnumSource(Fault.class)
  void anEngineThatBreaksFreesThePlaceOfItsRequest(Fault fault) throws Exception {
    restart(TestPlane.settings(PayloadFormat.MSGPACK, 1 << 20, 1));
    var breaks = new AtomicBoolean(true);
    var served =
        plane.serve(
            (request, context) -> {
              if (breaks.getAndSet(false)) {
                return fault.answer();
              }
              var answer = new ItemStream<EngineOutput>(8, () -> {}, () -> {});
              running.add(new Running(context, answer));
              return answer;
            });
    assertThat(Collector.all(plane.call(served)).awaitFailure())
        .isInstanceOf(DynamoException.class);
    Until.holds(() -> served.inFlight() == 0);
    var second = Collector.all(plane.call(served));
    next().answer().complete();
    second.awaitCompletion();
    Until.holds(() -> served.inFlight() == 0);
  }

  @Test
  void aRequestBeyondTheFrameLimitIsRefusedBeforeItIsSent() throws Exception {
    restart(TestPlane.settings(PayloadFormat.MSGPACK, 200, 8));
    assertThat(Collector.all(plane.call(serveByHand(8))).awaitFailure())
        .isInstanceOf(InvalidRequestException.class)
        .hasMessageMatching("request frame of \\d+ bytes exceeds .* of 200 bytes; .*");
    assertThat(plane.client.connections()).isZero();
  }

  @Test
  void aWorkerThatIsNotThereIsLost() throws Exception {
    assertThat(Collector.all(plane.call(absent(), TestPlane.context())).awaitFailure())
        .isInstanceOf(WorkerLostException.class);
    assertThat(plane.client.inFlight()).isZero();
  }

  @Test
  void anInstanceThatLeavesDiscoveryFailsWhatItHasNotAnswered() throws Exception {
    var silent = silent();
    var caller = Collector.all(plane.call(silent, TestPlane.context()));
    plane.client.instanceLost(other(silent));
    assertThat(caller.hasEnded()).isFalse();
    plane.client.instanceLost(silent);
    assertThat(caller.awaitFailure())
        .isInstanceOfSatisfying(
            WorkerLostException.class,
            lost -> assertThat(lost.code()).isEqualTo(ErrorCode.DISCONNECTED));
  }

  @Test
  void aWorkerThatDoesNotAcknowledgeIsLost() throws Exception {
    restart(TestPlane.impatient(Duration.ofMillis(50), Duration.ofSeconds(5)));
    assertThat(Collector.all(plane.call(silent(), TestPlane.context())).awaitFailure())
        .isInstanceOf(WorkerLostException.class)
        .hasMessageContaining("has not acknowledged");
  }

  @Test
  void theDeadlineEndsTheRequest() throws Exception {
    var served = serveByHand(8);
    var context =
        new RequestContext(
            "r", Map.of(), Map.of(), Deadline.after(Duration.ofSeconds(5)), new Cancellation());
    var caller = Collector.all(plane.call(plane.instance(served), context));
    var level = cancelled(next());
    assertThat(caller.awaitFailure()).isInstanceOf(DeadlineExceededException.class);
    assertThat(await(level)).isEqualTo(Cancellation.Level.KILL);
  }

  @Test
  void aClosedClientEndsItsStreamsAndTakesNoMore() throws Exception {
    var served = serveByHand(8);
    var caller = Collector.all(plane.call(served));
    next();
    plane.client.close();
    assertThat(caller.awaitFailure()).isInstanceOf(CancelledException.class);
    assertThat(Collector.all(plane.call(served)).awaitFailure())
        .isInstanceOf(CancelledException.class);
  }

  @Test
  void anEndpointIsServedOnce() {
    serveByHand(8);
    assertThatThrownBy(() -> serveByHand(8)).isInstanceOf(IllegalStateException.class);
  }

  @Test
  void aRequestToAnInstanceThatHasJustLeftFailsUntilItIsBack() throws Exception {
    var clock = ManualClock.now();
    restart(TestPlane.settings(PayloadFormat.MSGPACK, 1 << 20, 8), clock.nanoTime());
    var served = serveByHand(8);
    var instance = plane.instance(served);
    plane.client.instanceLost(instance);
    assertLost(instance);
    plane.client.instanceFound(instance);
    assertAnswers(instance);

    plane.client.instanceLost(instance);
    clock.advance(LostInstances.REMEMBERED.minusNanos(1));
    assertLost(instance);
    clock.advance(Duration.ofNanos(1));
    assertAnswers(instance);
  }

  private void assertLost(Instance instance) throws InterruptedException {
    assertThat(Collector.all(plane.call(instance, TestPlane.context())).awaitFailure())
        .isInstanceOfSatisfying(
            WorkerLostException.class,
            lost -> assertThat(lost.code()).isEqualTo(ErrorCode.DISCONNECTED));
  }

  private void assertAnswers(Instance instance) throws InterruptedException {
    var caller = Collector.all(plane.call(instance, TestPlane.context()));
    next().answer().complete();
    caller.awaitCompletion();
  }

  private static Instance other(Instance instance) {
    return new Instance(
        instance.endpoint(),
        new InstanceId(4711),
        instance.transport(),
        instance.deviceType(),
        instance.format());
  }
}
