package io.dynamo.runtime;

import static org.assertj.core.api.Assertions.assertThat;

import io.dynamo.discovery.DiscoveryEvent.Added;
import io.dynamo.discovery.DiscoveryEvent.Lost;
import io.dynamo.discovery.EndpointId;
import io.dynamo.discovery.Instance;
import io.dynamo.discovery.InstanceId;
import io.dynamo.discovery.TransportAddress;
import io.dynamo.net.PayloadFormat;
import io.dynamo.testing.ManualClock;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import org.junit.jupiter.api.Test;

class LiveInstancesTest {
  private final ManualClock clock = ManualClock.now();
  private final LiveInstances live = new LiveInstances(Duration.ofSeconds(5), clock.nanoTime());

  private static Instance instance(long id) {
    return new Instance(
        new EndpointId("n", "c", "e"),
        new InstanceId(id),
        new TransportAddress.Tcp("10.0.0.7:1", "x"),
        null,
        PayloadFormat.MSGPACK);
  }

  @Test
  void instancesStandInTheUnsignedOrderOfTheirIds() {
    live.onEvent(new Added<>(instance(-1)));
    live.onEvent(new Added<>(instance(2)));
    live.onEvent(new Added<>(instance(1)));

    assertThat(live.live()).containsExactly(instance(1), instance(2), instance(-1));
  }

  @Test
  void inhibitionEndsAfterItsWhile() {
    live.onEvent(new Added<>(instance(1)));
    live.inhibit(new InstanceId(1));
    clock.advance(Duration.ofSeconds(5).minusNanos(1));
    assertThat(live.inhibited()).containsExactly(new InstanceId(1));

    clock.advance(Duration.ofNanos(1));

    assertThat(live.inhibited()).isEmpty();
  }

  @Test
  void anInstanceThatVanishesAndReturnsIsStillSetAside() {
    live.onEvent(new Added<>(instance(1)));
    live.inhibit(new InstanceId(1));
    live.onEvent(new Lost<>(instance(1)));
    assertThat(live.live()).isEmpty();
    assertThat(live.inhibited()).isEmpty();

    live.onEvent(new Added<>(instance(1)));

    assertThat(live.live()).containsExactly(instance(1));
    assertThat(live.inhibited()).containsExactly(new InstanceId(1));
  }

  @Test
  void zeroNeverSetsAside() {
    var never = new LiveInstances(Duration.ZERO, clock.nanoTime());
    never.onEvent(new Added<>(instance(1)));
    never.inhibit(new InstanceId(1));

    assertThat(never.inhibited()).isEmpty();
  }

  @Test
  void listenersHearTheStartAndEachChangeUntilTheyLeave() {
    var seen = new ArrayList<List<Instance>>();
    var registration = live.onChange(() -> seen.add(live.live()));
    live.onEvent(new Added<>(instance(1)));
    registration.close();
    live.onEvent(new Lost<>(instance(1)));

    assertThat(seen).containsExactly(List.of(), List.of(instance(1)));
  }
}
