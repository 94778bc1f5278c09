package io.dynamo.event;

import static org.assertj.core.api.Assertions.assertThat;

import io.dynamo.discovery.EndpointId;
import io.dynamo.metrics.EventMetrics;
import io.dynamo.metrics.Metrics;
import io.dynamo.wire.event.EventEnvelope;
import java.util.ArrayDeque;
import java.util.ArrayList;
import java.util.List;
import java.util.Queue;
import org.junit.jupiter.api.Test;

class EventBudgetTest {
  private final EventBudget budget = new EventBudget(3, 100);

  @Test
  void eventsAreBoundedByNumber() {
    assertThat(budget.take(1)).isTrue();
    assertThat(budget.take(1)).isTrue();
    assertThat(budget.take(1)).isTrue();
    assertThat(budget.take(1)).isFalse();
    budget.give(1);
    assertThat(budget.take(1)).isTrue();
  }

  @Test
  void eventsAreBoundedByBytes() {
    assertThat(budget.take(60)).isTrue();
    assertThat(budget.take(41)).isFalse();
    assertThat(budget.take(40)).isTrue();
    budget.give(60);
    assertThat(budget.take(60)).isTrue();
  }

  @Test
  void anEmptyQueueTakesAnyOneEvent() {
    assertThat(budget.take(1000)).isTrue();
    assertThat(budget.take(1)).isFalse();
    budget.give(1000);
    assertThat(budget.take(0)).isTrue();
  }

  @Test
  void aSubscriptionHoldsNoMoreBytesThanItsBudget() {
    var metrics = new Metrics();
    var heard = new ArrayList<Integer>();
    Queue<Runnable> threads = new ArrayDeque<>();
    var delivery =
        new EventDelivery(
            new EventSubject(new EndpointId("n", "c", "e"), "t"),
            event -> heard.add(event.payload().length),
            budget,
            threads::add,
            metrics);
    for (int size : List.of(50, 40, 20, 10)) {
      delivery.event(new EventEnvelope(1, 0, 0, "t", new byte[size]));
    }
    assertThat(metrics.counter(EventMetrics.DROPPED, EventMetrics.SUBSCRIPTION_FULL).value())
        .isEqualTo(1);

    threads.remove().run();
    assertThat(heard).containsExactly(50, 40, 10);
    delivery.event(new EventEnvelope(1, 0, 0, "t", new byte[100]));
    threads.remove().run();
    assertThat(heard).endsWith(100);
  }
}
