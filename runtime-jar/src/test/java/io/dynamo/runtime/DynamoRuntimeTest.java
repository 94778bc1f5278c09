package io.dynamo.runtime;

import static org.assertj.core.api.Assertions.assertThat;

import io.dynamo.discovery.Discovery;
import io.dynamo.discovery.DiscoveryEvent;
import io.dynamo.discovery.DiscoveryRecord;
import io.dynamo.discovery.EndpointId;
import io.dynamo.discovery.Instance;
import io.dynamo.discovery.InstanceId;
import io.dynamo.discovery.TransportAddress;
import io.dynamo.event.EventPlane;
import io.dynamo.event.RawStreams;
import io.dynamo.metrics.Metrics;
import io.dynamo.net.PayloadFormat;
import io.dynamo.pipeline.EventLoops;
import io.dynamo.request.EndpointClient;
import io.dynamo.request.EndpointServer;
import io.dynamo.testing.TestSettings;
import io.dynamo.testing.TestStatus;
import io.dynamo.transfer.HostMemory;
import io.dynamo.transfer.RegionExchange;
import java.lang.reflect.Proxy;
import java.util.concurrent.CyclicBarrier;
import java.util.concurrent.ExecutorService;
import java.util.concurrent.Executors;
import java.util.concurrent.ScheduledExecutorService;
import java.util.concurrent.TimeUnit;
import java.util.function.Consumer;
import org.junit.jupiter.api.Test;

class DynamoRuntimeTest {
  /** Never closed: closing takes seconds, and its thread is a daemon. */
  private static final EventLoops LOOPS = new EventLoops(1);

  private static final int ROUNDS = 20_000;

  /** Hands on what the test says. */
  private static final class SpokenDiscovery implements Discovery {
    private Consumer<DiscoveryEvent<Instance>> listener = _ -> {};

    @Override
    public InstanceId instanceId() {
      return new InstanceId(1);
    }

    @Override
    public Handle register(DiscoveryRecord record) {
      throw new AssertionError("nobody registers here");
    }

    @Override
    public Handle replace(DiscoveryRecord before, DiscoveryRecord now) {
      throw new AssertionError("nobody registers here");
    }

    @Override
    @SuppressWarnings("unchecked") // the runtime watches instances
    public <R extends DiscoveryRecord> Handle watch(
        Class<R> kind, Consumer<DiscoveryEvent<R>> consumer) {
      assertThat(kind).isEqualTo(Instance.class);
      listener = event -> consumer.accept((DiscoveryEvent<R>) event);
      return () -> {};
    }

    @Override
    public void close() {}
  }

  /** A part that takes every call and does nothing. */
  private static <T> T idle(Class<T> type) {
    return type.cast(
        Proxy.newProxyInstance(type.getClassLoader(), new Class<?>[] {type}, (_, _, _) -> null));
  }

  private final SpokenDiscovery discovery = new SpokenDiscovery();
  private final DynamoRuntime runtime =
      new DynamoRuntime(
          TestSettings.defaults(),
          new Metrics(),
          discovery,
          new Planes(
              LOOPS,
              idle(EndpointClient.class),
              idle(EndpointServer.class),
              idle(EventPlane.class),
              idle(RawStreams.class),
              idle(RegionExchange.class)),
          idle(HostMemory.class),
          TestStatus.idle(),
          idle(ExecutorService.class),
          idle(ScheduledExecutorService.class));

  private static EndpointId endpoint(int round) {
    return new EndpointId("n", "c", "e" + round);
  }

  private static Instance instance(EndpointId endpoint) {
    return new Instance(
        endpoint,
        new InstanceId(7),
        new TransportAddress.Tcp("10.0.0.7:1", "x"),
        null,
        PayloadFormat.MSGPACK);
  }

  @Test
  void anEndpointKeepsItsInstancesFromTheFirstAskOn() {
    var held = runtime.instances(endpoint(0));
    discovery.listener.accept(new DiscoveryEvent.Added<>(instance(endpoint(0))));
    discovery.listener.accept(new DiscoveryEvent.Lost<>(instance(endpoint(0))));
    discovery.listener.accept(new DiscoveryEvent.Added<>(instance(endpoint(0))));

    assertThat(runtime.instances(endpoint(0))).isSameAs(held);
    assertThat(held.live()).containsExactly(instance(endpoint(0)));
  }

  /** The ask races against the removal of the entry that the last instance leaves behind. */
  @Test
  void instanceListStaysLiveWhenItsLastInstanceLeaves() throws Exception {
    try (var asking = Executors.newSingleThreadExecutor()) {
      var barrier = new CyclicBarrier(2);
      for (int round = 0; round < ROUNDS; round++) {
        var endpoint = endpoint(round);
        discovery.listener.accept(new DiscoveryEvent.Added<>(instance(endpoint)));
        var asked =
            asking.submit(
                () -> {
                  barrier.await(20, TimeUnit.SECONDS);
                  return runtime.instances(endpoint);
                });
        barrier.await(20, TimeUnit.SECONDS);
        discovery.listener.accept(new DiscoveryEvent.Lost<>(instance(endpoint)));
        var held = asked.get(20, TimeUnit.SECONDS);
        discovery.listener.accept(new DiscoveryEvent.Added<>(instance(endpoint)));

        assertThat(held.live()).as("round %d", round).containsExactly(instance(endpoint));
      }
    }
  }
}
