package io.dynamo.request.tcp;

import static org.assertj.core.api.Assertions.assertThat;

import io.dynamo.config.plane.AdmissionSettings;
import io.dynamo.metrics.Metrics;
import io.dynamo.metrics.PrometheusText;
import io.dynamo.metrics.TransportMetrics;
import java.util.ArrayList;
import java.util.List;
import java.util.concurrent.atomic.AtomicLong;
import org.jspecify.annotations.Nullable;
import org.junit.jupiter.api.Test;

class AdmissionTest {
  private final Metrics metrics = new Metrics();
  private final AtomicLong nanos = new AtomicLong();
  private final ByteBudget memory = new ByteBudget(100L * Admission.HEAP_PER_WIRE);
  private final Admission admission =
      new Admission(new AdmissionSettings(1, 2), memory, metrics, nanos::get);
  private final List<String> turns = new ArrayList<>();

  private static Admission.Ticket taken(Admission.@Nullable Ticket ticket) {
    if (ticket == null) {
      throw new AssertionError("refused");
    }
    return ticket;
  }

  private Admission.Ticket enter(String name) {
    var ticket = taken(admission.enter(1));
    ticket.whenTurn(() -> turns.add(name));
    return ticket;
  }

  @Test
  void requestsRunInOrderOfArrival() {
    var first = enter("first");
    var second = enter("second");
    enter("third");
    assertThat(turns).containsExactly("first");
    first.leave();
    second.leave();
    assertThat(turns).containsExactly("first", "second", "third");
  }

  @Test
  void requestsBeyondTheQueueAreRefusedAndCounted() {
    var first = enter("first");
    enter("second");
    enter("third");
    assertThat(admission.enter(1)).isNull();
    assertThat(metrics.counter(TransportMetrics.REJECTED).value()).isEqualTo(1);
    first.leave();
    assertThat(admission.enter(1)).isNotNull();
  }

  @Test
  void requestsThatFillTheMemoryRefuseOthersUntilOneLeaves() {
    var large = taken(admission.enter(90));
    assertThat(admission.enter(11)).isNull();
    assertThat(metrics.counter(TransportMetrics.REJECTED).value()).isEqualTo(1);
    taken(admission.enter(10));
    large.leave();
    large.leave();
    assertThat(memory.taken()).isEqualTo(10L * Admission.HEAP_PER_WIRE);
    assertThat(admission.enter(90)).isNotNull();
  }

  @Test
  void aRequestWithoutAPlaceTakesNoMemory() {
    enter("first");
    enter("second");
    enter("third");
    assertThat(admission.enter(1)).isNull();
    assertThat(memory.taken()).isEqualTo(3L * Admission.HEAP_PER_WIRE);
  }

  @Test
  void aRequestThatIsAloneMayBeLargerThanTheMemory() {
    var huge = taken(admission.enter(1_000));
    assertThat(admission.enter(1)).isNull();
    huge.leave();
    assertThat(admission.enter(1)).isNotNull();
  }

  @Test
  void requestThatLeavesTheQueueFreesItsPlace() {
    var first = enter("first");
    var second = enter("second");
    enter("third");
    second.leave();
    enter("fourth");
    first.leave();
    assertThat(turns).containsExactly("first", "third");
  }

  @Test
  void theLevelsStandUnderAllTheirNamesAndWaitsAreMeasured() {
    var text = new PrometheusText();
    metrics.attach(text);
    var first = enter("first");
    enter("second");
    assertThat(text.write())
        .contains("dynamo_engine_request 1\n", "dynamo_request_queue 1\n")
        .contains("dynamo_work_handler_permit_wait_seconds_count 1\n");
    nanos.set(250_000_000);
    first.leave();
    assertThat(text.write())
        .contains("dynamo_engine_request 1\n", "dynamo_request_queue 0\n")
        .contains("dynamo_work_handler_permit_wait_seconds_count 2\n")
        .contains("dynamo_work_handler_permit_wait_seconds_bucket{le=\"0.1\"} 1\n")
        .contains("dynamo_work_handler_permit_wait_seconds_bucket{le=\"0.5\"} 2\n");
  }

  @Test
  void leavingTwiceFreesOnePlace() {
    var first = enter("first");
    enter("second");
    first.leave();
    first.leave();
    enter("third");
    assertThat(turns).containsExactly("first", "second");
    assertThat(metrics.level(TransportMetrics.POOL_ACTIVE).value()).isEqualTo(1);
    assertThat(metrics.level(TransportMetrics.QUEUE_DEPTH).value()).isEqualTo(1);
  }

  @Test
  void aTurnThatComesBeforeItIsAskedForIsNotLost() {
    var first = enter("first");
    var second = taken(admission.enter(1));
    first.leave();
    assertThat(turns).containsExactly("first");
    second.whenTurn(() -> turns.add("second"));
    assertThat(turns).containsExactly("first", "second");
  }

  @Test
  void nothingIsRunAfterLeaving() {
    var first = taken(admission.enter(1));
    first.leave();
    first.whenTurn(() -> turns.add("first"));
    assertThat(turns).isEmpty();
    assertThat(metrics.level(TransportMetrics.POOL_ACTIVE).value()).isZero();
  }
}
