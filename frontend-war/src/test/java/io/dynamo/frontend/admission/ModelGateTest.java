package io.dynamo.frontend.admission;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import io.dynamo.concurrent.Cancellation;
import io.dynamo.concurrent.Deadline;
import io.dynamo.config.frontend.ModelBounds;
import io.dynamo.error.CancelledException;
import io.dynamo.error.DeadlineExceededException;
import io.dynamo.error.DynamoException;
import io.dynamo.frontend.ApiException;
import io.dynamo.frontend.FrontendMetrics;
import io.dynamo.metrics.Label;
import io.dynamo.metrics.Metrics;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.Objects;
import java.util.Random;
import java.util.concurrent.ConcurrentLinkedQueue;
import java.util.concurrent.CountDownLatch;
import java.util.concurrent.ExecutionException;
import java.util.concurrent.ExecutorService;
import java.util.concurrent.Executors;
import java.util.concurrent.Future;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.atomic.AtomicInteger;
import java.util.concurrent.atomic.AtomicLong;
import java.util.function.BooleanSupplier;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;

class ModelGateTest {
  private static final Duration LONG = Duration.ofMinutes(1);
  private static final Label MODEL = new Label("model", "m");

  private final Metrics metrics = new Metrics();
  private final AtomicLong nanos = new AtomicLong(Long.MAX_VALUE - 5); // wraps around
  private final ExecutorService threads = Executors.newVirtualThreadPerTaskExecutor();

  @AfterEach
  void close() {
    threads.shutdownNow();
    assertThat(metrics.level(FrontendMetrics.ADMISSION_WAITING, MODEL).value()).isZero();
  }

  private ModelGate gate(int running, int waiting, Duration patience) {
    return new ModelGate(
        "m", new ModelBounds(running, waiting, patience), new GateMeters(metrics, "m"), nanos::get);
  }

  private static BodyBudget.Share share() {
    return new BodyBudget(new BodyBudget.Limits(1, 1, 0)).open();
  }

  private static ModelGate.Permit enter(ModelGate gate) throws InterruptedException {
    return gate.enter(Urgency.NONE, 1, share(), Deadline.after(LONG), new Cancellation());
  }

  /** Starts a request and returns once it waits. */
  private Future<ModelGate.Permit> waiting(ModelGate gate, Urgency urgency, Deadline deadline) {
    return waiting(gate, urgency, deadline, new Cancellation());
  }

  private Future<ModelGate.Permit> waiting(
      ModelGate gate, Urgency urgency, Deadline deadline, Cancellation cancellation) {
    int before = gate.waiting();
    var place = threads.submit(() -> gate.enter(urgency, 1, share(), deadline, cancellation));
    until(() -> gate.waiting() > before || place.isDone());
    return place;
  }

  private static void until(BooleanSupplier reached) {
    var limit = Deadline.after(Duration.ofSeconds(20));
    while (!reached.getAsBoolean()) {
      assertThat(limit.isExpired()).as("took too long").isFalse();
      Thread.onSpinWait();
    }
  }

  private static ModelGate.Permit got(Future<ModelGate.Permit> place) throws Exception {
    return place.get(20, TimeUnit.SECONDS);
  }

  private static Throwable failure(Future<ModelGate.Permit> place) {
    try {
      got(place).close();
      throw new AssertionError("let in");
    } catch (ExecutionException e) {
      return Objects.requireNonNull(e.getCause());
    } catch (Exception e) {
      throw new AssertionError(e);
    }
  }

  private long refused(RefusalReason reason) {
    return metrics.counter(FrontendMetrics.ADMISSION_REFUSED, MODEL, reason.label()).value();
  }

  @Test
  void aFreedPermitGoesToTheFirstInTheQueue() throws Exception {
    var gate = gate(1, 8, LONG);
    var inside = enter(gate);
    var places = new ArrayList<Future<ModelGate.Permit>>();
    for (int i = 0; i < 5; i++) {
      places.add(waiting(gate, Urgency.NONE, Deadline.after(LONG)));
    }
    for (int i = 0; i < places.size(); i++) {
      assertThat(places.subList(i, places.size())).noneMatch(Future::isDone);
      inside.close();
      inside.close(); // does nothing
      inside = got(places.get(i));
    }
    inside.close();
    enter(gate).close();
  }

  @Test
  void strictPriorityGoesFirstAndAJumpAgesAway() throws Exception {
    var gate = gate(1, 8, LONG);
    var inside = enter(gate);
    var plain = waiting(gate, Urgency.NONE, Deadline.after(LONG));
    nanos.addAndGet(TimeUnit.SECONDS.toNanos(4));
    var jumps5 = waiting(gate, Urgency.of(null, 5.0), Deadline.after(LONG));
    var jumps3 = waiting(gate, Urgency.of(null, 3.0), Deadline.after(LONG));
    var strict = waiting(gate, Urgency.of(1L, null), Deadline.after(LONG));
    var strictAndJumps = waiting(gate, Urgency.of(1L, 1.0), Deadline.after(LONG));
    for (var place : List.of(strictAndJumps, strict, jumps5, plain, jumps3)) {
      inside.close();
      inside = got(place);
    }
    inside.close();
  }

  @Test
  void invalidValuesGiveNoPriority() {
    assertThat(Urgency.of(null, null)).isSameAs(Urgency.NONE);
    assertThat(Urgency.of(null, -7.0)).isSameAs(Urgency.NONE);
    assertThat(Urgency.of(null, Double.NaN)).isSameAs(Urgency.NONE);
    assertThat(Urgency.of(null, Double.POSITIVE_INFINITY)).isSameAs(Urgency.NONE);
    assertThat(Urgency.of(3L, 2.0)).isEqualTo(new Urgency(3, 2));
  }

  @Test
  void aRequestBeyondTheBoundIsRefusedWithTheNumbersAndRetryAfter() throws Exception {
    var gate = gate(1, 1, LONG);
    try (var _ = enter(gate)) {
      var first = waiting(gate, Urgency.NONE, Deadline.after(LONG));
      nanos.addAndGet(TimeUnit.SECONDS.toNanos(3)); // and nobody has left yet
      assertThatThrownBy(() -> enter(gate))
          .isInstanceOfSatisfying(
              ApiException.class,
              e -> {
                assertThat(e.error().status()).isEqualTo(429);
                assertThat(e.error().type()).isEqualTo("rate_limit_error");
                assertThat(e.error().code()).isEqualTo("overloaded");
                assertThat(e.error().errorType()).isEqualTo("overload");
                assertThat(e.error().retryAfterSeconds()).isEqualTo(6); // two places
                assertThat(e.error().message())
                    .isEqualTo(
                        "model `m` has 1 requests under way and 1 waiting and takes no more;"
                            + " retry in 6 s");
              });
      assertThat(refused(RefusalReason.QUEUE_FULL)).isEqualTo(1);
      assertThat(first.isDone()).isFalse();
      first.cancel(true);
      until(() -> gate.waiting() == 0);
    }
  }

  @Test
  void inAFullQueueTheMoreUrgentTakesTheLastPlace() throws Exception {
    var gate = gate(1, 2, LONG);
    var inside = enter(gate);
    var first = waiting(gate, Urgency.NONE, Deadline.after(LONG));
    var last = waiting(gate, Urgency.NONE, Deadline.after(LONG));
    var urgent =
        threads.submit(
            () ->
                gate.enter(
                    Urgency.of(2L, null), 1, share(), Deadline.after(LONG), new Cancellation()));
    assertThat(failure(last))
        .isInstanceOfSatisfying(
            ApiException.class, e -> assertThat(e.error().status()).isEqualTo(429))
        .hasMessageContaining("higher priority");
    assertThat(refused(RefusalReason.DISPLACED)).isEqualTo(1);
    inside.close();
    inside = got(urgent);
    inside.close();
    got(first).close();
  }

  @Test
  void withoutAQueueTheMostUrgentIsRefusedToo() throws Exception {
    var gate = gate(1, 0, LONG);
    try (var _ = enter(gate)) {
      assertThatThrownBy(
              () ->
                  gate.enter(
                      Urgency.of(9L, null), 1, share(), Deadline.after(LONG), new Cancellation()))
          .hasMessageContaining("takes no more");
    }
  }

  @Test
  void aLongWaitIsRefusedAndAPassedDeadlineTimesOut() throws Exception {
    var gate = gate(1, 8, Duration.ofMillis(5));
    try (var _ = enter(gate)) {
      assertThat(failure(waiting(gate, Urgency.NONE, Deadline.after(LONG))))
          .hasMessageContaining("waited for 5 ms");
      assertThat(refused(RefusalReason.WAITED_TOO_LONG)).isEqualTo(1);
      var patient = gate(1, 8, LONG);
      try (var _ = enter(patient)) {
        assertThat(failure(waiting(patient, Urgency.NONE, Deadline.after(Duration.ofMillis(5)))))
            .isInstanceOf(DeadlineExceededException.class);
        assertThat(patient.waiting()).isZero();
      }
    }
    assertThat(gate.waiting()).isZero();
  }

  @Test
  void aClientThatLeavesLeavesTheQueue() throws Exception {
    var gate = gate(1, 8, LONG);
    var inside = enter(gate);
    var leaving = new Cancellation();
    var left = waiting(gate, Urgency.NONE, Deadline.after(LONG), leaving);
    var next = waiting(gate, Urgency.NONE, Deadline.after(LONG));
    leaving.stop(); // what is there still counts
    assertThat(gate.waiting()).isEqualTo(2);
    leaving.kill();
    assertThat(failure(left)).isInstanceOf(CancelledException.class);
    inside.close();
    got(next).close();
    var gone = new Cancellation();
    gone.kill();
    try (var _ = enter(gate)) {
      assertThatThrownBy(() -> gate.enter(Urgency.NONE, 1, share(), Deadline.after(LONG), gone))
          .isInstanceOf(CancelledException.class);
    }
  }

  @Test
  void aClosedGateTurnsAllAwayButThoseInside() throws Exception {
    var gate = gate(1, 8, LONG);
    var inside = enter(gate);
    var place = waiting(gate, Urgency.NONE, Deadline.after(LONG));
    gate.close();
    assertThat(failure(place))
        .isInstanceOfSatisfying(
            ApiException.class, e -> assertThat(e.error().status()).isEqualTo(503));
    inside.close();
    assertThatThrownBy(() -> enter(gate)).hasMessage("Service is not ready");
  }

  @Test
  void retryAfterFollowsThePaceOfDeparturesWithinBounds() {
    var pace = new DeparturePace();
    pace.full(0);
    assertThat(pace.secondsUntil(1, 0)).isEqualTo(1);
    assertThat(pace.secondsUntil(1000, TimeUnit.SECONDS.toNanos(1))).isEqualTo(60);
    for (int i = 1; i <= 100; i++) {
      pace.departed(TimeUnit.MILLISECONDS.toNanos(500L * i)); // two a second
    }
    long now = TimeUnit.SECONDS.toNanos(50);
    assertThat(pace.secondsUntil(10, now)).isEqualTo(5);
    assertThat(pace.secondsUntil(1, now)).isEqualTo(1);
    assertThat(pace.secondsUntil(100_000, now)).isEqualTo(60);
    pace.full(now);
    pace.departed(now + TimeUnit.SECONDS.toNanos(2));
    assertThat(pace.secondsUntil(3, now + TimeUnit.SECONDS.toNanos(2))).isEqualTo(6);
  }

  @ParameterizedTest
  @ValueSource(longs = {1, 2, 3, 5, 8}) // the seed names the failing run
  void theBoundHoldsAndNoPermitIsLostUnderRandomEvents(long seed) throws Exception {
    int running = 3;
    var gate = gate(running, 5, Duration.ofMillis(2));
    var inside = new AtomicInteger();
    var most = new AtomicInteger();
    var odd = new ConcurrentLinkedQueue<Throwable>();
    var random = new Random(seed);
    var done = new CountDownLatch(400);
    for (int i = 0; i < 400; i++) {
      var cancellation = new Cancellation();
      var urgency = new Urgency(random.nextInt(3), random.nextInt(3));
      var deadline = Deadline.after(Duration.ofMillis(random.nextInt(20)));
      int fate = random.nextInt(4);
      var thread =
          Thread.ofVirtual()
              .unstarted(
                  () -> {
                    try (var _ = gate.enter(urgency, 1, share(), deadline, cancellation)) {
                      most.accumulateAndGet(inside.incrementAndGet(), Math::max);
                      Thread.onSpinWait();
                      inside.decrementAndGet();
                    } catch (ApiException | DynamoException | InterruptedException e) {
                      // one of its endings
                    } catch (Throwable e) {
                      odd.add(e);
                    } finally {
                      done.countDown();
                    }
                  });
      thread.start();
      if (fate == 0) {
        cancellation.kill();
      } else if (fate == 1) {
        thread.interrupt();
      }
    }
    assertThat(done.await(30, TimeUnit.SECONDS)).isTrue();
    assertThat(odd).isEmpty();
    assertThat(most.get()).isBetween(1, running);
    assertThat(gate.waiting()).isZero();
    var places = new ArrayList<ModelGate.Permit>();
    for (int i = 0; i < running; i++) {
      places.add(enter(gate));
    }
    assertThat(places).hasSize(running);
    places.forEach(ModelGate.Permit::close);
  }

  @Test
  void waitingRequestsHoldNoMemoryOfRunningOnes() throws Exception {
    var bodies = new BodyBudget(new BodyBudget.Limits(1000, 1000, 0));
    var gate = gate(1, 10, LONG);
    var inside = enter(gate);
    try (var share = bodies.open()) {
      share.chargeComplete(400);
      var waits =
          threads.submit(
              () -> gate.enter(Urgency.NONE, 1, share, Deadline.after(LONG), new Cancellation()));
      until(() -> gate.waiting() == 1);
      assertThat(bodies.heldBytes()).isZero();
      assertThat(bodies.waitingBytes()).isEqualTo(400);
      try (var other = bodies.open()) {
        other.chargeComplete(1000); // all of it
      }
      inside.close();
      waits.get(20, TimeUnit.SECONDS).close();
      assertThat(bodies.heldBytes()).isEqualTo(400);
      assertThat(bodies.waitingBytes()).isZero();
    }
    assertThat(bodies.heldBytes()).isZero();
  }

  @Test
  void aBodyTooLargeToWaitIsRefusedAtOnce() throws Exception {
    var bodies = new BodyBudget(new BodyBudget.Limits(1000, 100, 0));
    var gate = gate(1, 10, LONG);
    try (var _ = enter(gate);
        var share = bodies.open()) {
      share.chargeComplete(400);
      assertThatThrownBy(
              () -> gate.enter(Urgency.NONE, 1, share, Deadline.after(LONG), new Cancellation()))
          .isInstanceOfSatisfying(
              ApiException.class,
              e -> {
                assertThat(e.error().status()).isEqualTo(429);
                assertThat(e.getMessage()).contains("`m`", "would add 400", "have 100");
              });
      assertThat(gate.waiting()).isZero();
      assertThat(bodies.heldBytes()).isEqualTo(400);
      assertThat(bodies.waitingBytes()).isZero();
    }
  }

  private ModelGate.Permit enter(ModelGate gate, int texts) throws InterruptedException {
    return gate.enter(Urgency.NONE, texts, share(), Deadline.after(LONG), new Cancellation());
  }

  private Future<ModelGate.Permit> waiting(ModelGate gate, int texts, Cancellation cancellation) {
    int before = gate.waiting();
    var place =
        threads.submit(
            () -> gate.enter(Urgency.NONE, texts, share(), Deadline.after(LONG), cancellation));
    until(() -> gate.waiting() > before || place.isDone());
    return place;
  }

  @Test
  void eachTextOfARequestTakesAPlace() throws Exception {
    var gate = gate(4, 10, LONG);
    var three = enter(gate, 3);
    var two = waiting(gate, 2, new Cancellation());
    var one = waiting(gate, 1, new Cancellation());
    assertThat(gate.waiting())
        .as("one does not pass two, though there is room for it")
        .isEqualTo(2);
    three.close();
    var place = got(two);
    got(one).close();
    var all = waiting(gate, 4, new Cancellation());
    assertThat(gate.waiting()).isEqualTo(1);
    place.close();
    got(all).close();
  }

  @Test
  void requestForMoreTextsThanMayRunTakesAllPlaces() throws Exception {
    var gate = gate(4, 10, LONG);
    var all = enter(gate, 128);
    var one = waiting(gate, 1, new Cancellation());
    assertThat(gate.waiting()).isEqualTo(1);
    all.close();
    got(one).close();
    enter(gate, 128).close();
  }

  @Test
  void aRequestThatFitsIsAdmittedWhenTheLargerOneBeforeItLeaves() throws Exception {
    var gate = gate(4, 10, LONG);
    try (var _ = enter(gate, 3)) {
      var cancellation = new Cancellation();
      var large = waiting(gate, 4, cancellation);
      var small = waiting(gate, 1, new Cancellation());
      cancellation.kill();
      assertThatThrownBy(large::get).hasCauseInstanceOf(CancelledException.class);
      got(small).close();
    }
  }
}
