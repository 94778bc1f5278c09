package io.dynamo.runtime;

import static org.assertj.core.api.Assertions.assertThat;

import io.dynamo.discovery.EndpointId;
import io.dynamo.discovery.Instance;
import io.dynamo.discovery.InstanceId;
import io.dynamo.discovery.TransportAddress;
import io.dynamo.discovery.memory.MemoryDiscovery;
import io.dynamo.discovery.memory.MemoryStore;
import io.dynamo.event.EventPlane;
import io.dynamo.event.RawStreams;
import io.dynamo.metrics.Metrics;
import io.dynamo.net.PayloadFormat;
import io.dynamo.pipeline.EventLoops;
import io.dynamo.request.EndpointClient;
import io.dynamo.request.EndpointServer;
import io.dynamo.request.RequestContext;
import io.dynamo.testing.TestSettings;
import io.dynamo.testing.TestStatus;
import io.dynamo.transfer.HostMemory;
import io.dynamo.transfer.RegionExchange;
import io.dynamo.wire.MessageCodec;
import java.lang.reflect.Proxy;
import java.util.concurrent.BlockingQueue;
import java.util.concurrent.ExecutorService;
import java.util.concurrent.Flow;
import java.util.concurrent.LinkedBlockingQueue;
import java.util.concurrent.ScheduledExecutorService;
import java.util.concurrent.TimeUnit;
import org.junit.jupiter.api.Test;

class InstanceNewsTest {
  /** Never closed: closing takes seconds, and its thread is a daemon. */
  private static final EventLoops LOOPS = new EventLoops(1);

  private static final Instance WORKER =
      new Instance(
          new EndpointId("n", "c", "e"),
          new InstanceId(7),
          new TransportAddress.Tcp("10.0.0.7:1", "x"),
          null,
          PayloadFormat.MSGPACK);

  /** Keeps the events of instances. */
  private static final class HearingClient implements EndpointClient {
    final BlockingQueue<String> heard = new LinkedBlockingQueue<>();

    @Override
    public <Q, R> Flow.Publisher<R> call(
        Instance instance, Q request, MessageCodec<Q, R> codec, RequestContext context) {
      throw new AssertionError("a call was made");
    }

    @Override
    public void instanceLost(Instance instance) {
      heard.add("lost " + instance.key());
    }

    @Override
    public void instanceFound(Instance instance) {
      heard.add("found " + instance.key());
    }

    @Override
    public void close() {}
  }

  /** A part that no test here calls. */
  private static <T> T uncalled(Class<T> type) {
    return type.cast(
        Proxy.newProxyInstance(
            type.getClassLoader(),
            new Class<?>[] {type},
            (_, method, _) -> {
              throw new AssertionError(method + " was called");
            }));
  }

  @Test
  void theClientHearsOfInstancesThatComeAndGo() throws InterruptedException {
    var client = new HearingClient();
    try (var discovery = new MemoryDiscovery(new MemoryStore(), new InstanceId(1))) {
      var runtime =
          new DynamoRuntime(
              TestSettings.defaults(),
              new Metrics(),
              discovery,
              new Planes(
                  LOOPS,
                  client,
                  uncalled(EndpointServer.class),
                  uncalled(EventPlane.class),
                  uncalled(RawStreams.class),
                  uncalled(RegionExchange.class)),
              uncalled(HostMemory.class),
              TestStatus.idle(),
              uncalled(ExecutorService.class),
              uncalled(ScheduledExecutorService.class));
      var instances = runtime.instances(WORKER.endpoint());
      var registered = discovery.register(WORKER);
      assertThat(client.heard.poll(60, TimeUnit.SECONDS)).isEqualTo("found " + WORKER.key());
      registered.close();
      assertThat(client.heard.poll(60, TimeUnit.SECONDS)).isEqualTo("lost " + WORKER.key());
      assertThat(instances.live()).as("gone before its requests fail").isEmpty();
    }
  }
}
