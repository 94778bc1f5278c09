package io.dynamo.runtime.health;

import static org.assertj.core.api.Assertions.assertThat;

import io.dynamo.concurrent.Cancellation;
import io.dynamo.concurrent.Deadline;
import io.dynamo.concurrent.ItemStream;
import io.dynamo.error.WorkerBusyException;
import io.dynamo.request.EndpointHandler;
import io.dynamo.request.RequestContext;
import io.dynamo.testing.ManualAlarms;
import io.dynamo.testing.ManualClock;
import io.dynamo.testing.TestSettings;
import java.time.Duration;
import java.util.ArrayList;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.concurrent.Flow;
import java.util.concurrent.atomic.AtomicReference;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;

class SystemHealthTest {
  private static final Duration WAIT = Duration.ofSeconds(10);
  private static final Duration TIMEOUT = Duration.ofSeconds(3);

  private final ManualClock clock = ManualClock.now();
  private final ManualAlarms alarms = new ManualAlarms(clock);
  private final List<String> asked = new ArrayList<>();
  private final List<ItemStream<String>> answers = new ArrayList<>();
  private final List<RequestContext> contexts = new ArrayList<>();
  private final List<String> verdicts = new ArrayList<>();
  private boolean refuses;

  private SystemHealth health(String... keysAndValues) {
    var settings = new HashMap<String, String>();
    for (int i = 0; i < keysAndValues.length; i += 2) {
      settings.put(keysAndValues[i], keysAndValues[i + 1]);
    }
    return new SystemHealth(
        TestSettings.with(settings).status(), alarms, Runnable::run, clock.nanoTime());
  }

  private SystemHealth probing() {
    return health("dynamo.health.canaries", "true");
  }

  private Flow.Publisher<String> handle(String request, RequestContext context) {
    asked.add(request);
    if (refuses) {
      throw new WorkerBusyException("full");
    }
    contexts.add(context);
    var answer = new ItemStream<String>(8, () -> {}, () -> {});
    answers.add(answer);
    return answer;
  }

  private Canary<String, String> canary(SystemHealth health) {
    return health.add(
        "generate",
        this::handle,
        () -> "probe",
        item -> item.equals("error"),
        () -> verdicts.add("!"));
  }

  // the rule

  @Test
  void withoutTargetsTheStartingStatusHolds() {
    var health = health();
    health.add("generate");
    assertThat(health.report().ready()).isFalse();
    assertThat(health.report().endpoints()).isEqualTo(Map.of("generate", true));
    assertThat(health("dynamo.system.starting-health-status", "ready").report().ready()).isTrue();
  }

  @Test
  void withCanariesAndWithoutTargetsTheProcessIsReady() {
    assertThat(probing().report().ready()).isTrue();
  }

  @Test
  void withoutCanariesATargetIsReadyOnceItIsReachable() {
    var health = health();
    var canary = canary(health);
    assertThat(health.report().ready()).isFalse();
    canary.start();
    assertThat(health.report().ready()).isTrue();
    assertThat(alarms.waiting()).isZero();
    canary.close();
    assertThat(health.report().endpoints()).isEmpty();
  }

  @Test
  void listedEndpointsDecideAlone() {
    var health = health("dynamo.system.endpoint-health", "generate, second");
    canary(health);
    var generate = health.add("second");
    assertThat(health.report().ready()).isFalse();
    assertThat(health.report().endpoints()).isEqualTo(Map.of("generate", false, "second", true));
    generate.close();
    assertThat(health("dynamo.system.endpoint-health", "missing").report().ready()).isFalse();
    var only = health("dynamo.system.endpoint-health", "second");
    only.add("second");
    canary(only);
    assertThat(only.report().ready()).isTrue();
  }

  /** Two models of one server, whose endpoints may share a name. */
  @ParameterizedTest
  @ValueSource(strings = {"generate", "other"})
  void anEndpointThatRestsLeavesTheProcessReadyWhileAnotherServes(String second) {
    for (var health : List.of(health(), probing())) {
      var awake = canary(health);
      var other =
          health.add(second, this::handle, () -> "probe", item -> item.equals("error"), () -> {});
      awake.start();
      other.start();
      alarms.advance(WAIT);
      answers.forEach(answer -> answer.offer("token"));
      assertThat(health.report().ready()).isTrue();

      other.rest();
      assertThat(health.report().ready()).isTrue();
      assertThat(health.report().endpoints().get("generate")).isTrue();
      assertThat(health.report().endpoints().get(second)).isEqualTo(second.equals("generate"));

      awake.fail("thrown by the test");
      assertThat(health.report().ready()).isFalse();
      awake.rest();
      assertThat(health.report().ready()).as("all rest").isFalse();
      assertThat(health.report().endpoints().get("generate")).isFalse();
    }
  }

  @Test
  void uptimeCountsFromTheStart() {
    var health = health();
    clock.advance(Duration.ofMillis(1500));
    assertThat(health.report().uptime()).isEqualTo(Duration.ofMillis(1500));
  }

  // canaries

  @Test
  void aSilentEndpointIsProbedAndItsFirstItemMakesItReady() {
    var health = probing();
    canary(health).start();
    alarms.advance(WAIT.minusNanos(1));
    assertThat(asked).isEmpty();
    alarms.advance(Duration.ofNanos(1));
    assertThat(asked).containsExactly("probe");
    assertThat(health.report().ready()).isFalse();
    answers.getFirst().offer("token");
    assertThat(health.report().ready()).isTrue();
    assertThat(contexts.getFirst().cancellation().isCancelled()).isTrue();
    assertThat(answers.getFirst().isCancelled()).isTrue();
    alarms.advance(WAIT);
    assertThat(asked).hasSize(2);
  }

  @Test
  void anErrorItemAnEmptyStreamAFailureAndARefusalAreNoProof() {
    var health = probing();
    canary(health).start();
    alarms.advance(WAIT);
    answers.get(0).offer("error");
    assertFailing(health, 1);
    alarms.advance(WAIT);
    answers.get(1).offer("token");
    assertThat(health.report().ready()).isTrue();
    alarms.advance(WAIT);
    answers.get(2).complete();
    assertFailing(health, 3);
    alarms.advance(WAIT);
    answers.get(3).offer("token");
    alarms.advance(WAIT);
    answers.get(4).fail(new WorkerBusyException("busy"));
    assertFailing(health, 5);
    alarms.advance(WAIT);
    answers.get(5).offer("token");
    refuses = true;
    alarms.advance(WAIT);
    assertFailing(health, 7);
  }

  private void assertFailing(SystemHealth health, int verdictsSoFar) {
    assertThat(health.report().ready()).isFalse();
    assertThat(verdicts).hasSize(verdictsSoFar);
  }

  @Test
  void aProbeWithoutAnItemInTimeFailsAndIsGivenUp() {
    var health = probing();
    var canary = canary(health);
    canary.start();
    alarms.advance(WAIT);
    alarms.advance(TIMEOUT.minusNanos(1));
    assertThat(canary.isFailing()).isFalse();
    alarms.advance(Duration.ofNanos(1));
    assertThat(canary.isFailing()).isTrue();
    assertThat(contexts.getFirst().cancellation().isCancelled()).isTrue();
    answers.getFirst().offer("late");
    assertThat(canary.isFailing()).isTrue();
    alarms.advance(WAIT);
    answers.get(1).offer("token");
    assertThat(canary.isFailing()).isFalse();
    assertThat(verdicts).hasSize(2);
  }

  @Test
  void realItemsPutTheProbeOffAndErrorsDoNot() {
    var health = probing();
    var canary = canary(health);
    EndpointHandler<String, String> served = canary.handler();
    canary.start();
    var answer = real(served);
    alarms.advance(WAIT.dividedBy(2));
    answer.offer("error");
    assertThat(health.report().ready()).isFalse();
    answer.offer("token");
    assertThat(health.report().ready()).isTrue();
    alarms.advance(WAIT.minusNanos(1));
    assertThat(asked).containsExactly("real");
    alarms.advance(Duration.ofNanos(1));
    assertThat(asked).containsExactly("real", "probe");
  }

  @Test
  void realItemsOutweighAProbeThatFailsMeanwhile() {
    var canary = canary(probing());
    var served = canary.handler();
    canary.start();
    var answer = real(served);
    alarms.advance(WAIT);
    clock.advance(Duration.ofMillis(1));
    answer.offer("token");
    alarms.advance(TIMEOUT);
    assertThat(canary.isFailing()).isFalse();
    assertThat(verdicts).as("the token's alone").hasSize(1);
  }

  private ItemStream<String> real(EndpointHandler<String, String> served) {
    served
        .handle(
            "real",
            new RequestContext("r", Map.of(), Map.of(), Deadline.after(WAIT), new Cancellation()))
        .subscribe(new Unbounded());
    return answers.getLast();
  }

  private static final class Unbounded implements Flow.Subscriber<String> {
    @Override
    public void onSubscribe(Flow.Subscription subscription) {
      subscription.request(Long.MAX_VALUE);
    }

    @Override
    public void onNext(String item) {}

    @Override
    public void onError(Throwable cause) {}

    @Override
    public void onComplete() {}
  }

  @Test
  void aClosedCanaryProbesNoMoreAndSaysNothing() {
    var health = probing();
    var canary = canary(health);
    canary.start();
    alarms.advance(WAIT);
    canary.close();
    assertThat(contexts.getFirst().cancellation().isCancelled()).isTrue();
    assertThat(alarms.waiting()).isZero();
    alarms.advance(WAIT.multipliedBy(3));
    assertThat(asked).hasSize(1);
    assertThat(verdicts).isEmpty();
  }

  // suspicion

  @Test
  void aSuspectedEndpointIsProbedAtOnceEvenWhereSilenceIsNot() {
    var health = health();
    var canary = canary(health);
    canary.start();
    canary.suspect("an item made no sense");
    alarms.advance(Duration.ZERO);
    assertThat(asked).containsExactly("probe");
    assertThat(health.report().ready()).as("until the probe decides").isTrue();
    answers.getFirst().offer("error");
    assertFailing(health, 1);

    alarms.advance(WAIT);
    assertThat(asked).hasSize(2);
    answers.get(1).offer("token");
    assertThat(health.report().ready()).isTrue();
    assertThat(alarms.waiting()).as("nobody doubts it any more").isZero();
  }

  @Test
  void manySuspicionsAreOneProbeInABreath() {
    var canary = canary(health());
    canary.start();
    canary.suspect("one");
    canary.suspect("two");
    alarms.advance(Duration.ZERO);
    canary.suspect("while the probe runs");
    answers.getFirst().offer("token");
    canary.suspect("three");
    alarms.advance(Canary.BREATH.minusNanos(1));
    assertThat(asked).hasSize(1);
    alarms.advance(Duration.ofNanos(1));
    assertThat(asked).hasSize(2);
  }

  @Test
  void aFailedEndpointIsOutAtOnceAndBackWithTheProbeThatSucceeds() {
    var health = health();
    var canary = canary(health);
    canary.start();
    canary.fail("it is silent");
    assertFailing(health, 1);
    assertThat(canary.isFit()).isFalse();
    alarms.advance(WAIT);
    alarms.advance(TIMEOUT);
    assertThat(canary.isFit()).isFalse();
    alarms.advance(WAIT);
    answers.get(1).offer("token");
    assertThat(canary.isFit()).isTrue();
    assertThat(health.report().ready()).isTrue();
  }

  @Test
  void aRestingEndpointIsNotReadyAndNotProbedUntilItStartsAgain() {
    var health = probing();
    var canary = canary(health);
    canary.start();
    alarms.advance(WAIT);
    answers.getFirst().offer("token");
    canary.rest();
    assertThat(health.report().ready()).isFalse();
    canary.fail("asleep");
    canary.suspect("asleep");
    alarms.advance(WAIT.multipliedBy(3));
    assertThat(asked).hasSize(1);
    assertThat(canary.isFailing()).isFalse();
    canary.start();
    canary.suspect("just woken");
    alarms.advance(Canary.BREATH);
    answers.get(1).offer("token");
    assertThat(health.report().ready()).isTrue();
  }

  @Test
  void theNextProbeAsksWhatThePayloadSaysThen() {
    var payload = new AtomicReference<>("first");
    var canary = health().add("generate", this::handle, payload::get, item -> false, () -> {});
    canary.start();
    payload.set("second");
    canary.suspect("no reason");
    alarms.advance(Duration.ZERO);
    assertThat(asked).containsExactly("second");
  }
}
