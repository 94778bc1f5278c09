package io.dynamo.frontend.catalog;

import io.dynamo.concurrent.Cancellation;
import io.dynamo.discovery.EndpointId;
import io.dynamo.discovery.Instance;
import io.dynamo.discovery.InstanceId;
import io.dynamo.discovery.TransportAddress;
import io.dynamo.net.PayloadFormat;
import io.dynamo.runtime.EndpointInstances;
import java.util.List;
import java.util.Set;
import java.util.TreeSet;
import java.util.function.Function;

/** The instances that a test says are live, whichever endpoint is asked for. For one thread. */
final class LiveInstances implements Function<EndpointId, EndpointInstances> {
  private final Set<Long> ids = new TreeSet<>();
  private final Set<Long> aside = new TreeSet<>();

  void add(InstanceId id) {
    ids.add(id.value());
  }

  void add(long... more) {
    for (long id : more) {
      ids.add(id);
    }
  }

  void remove(long id) {
    ids.remove(id);
  }

  void setAside(long id) {
    aside.add(id);
  }

  @Override
  public EndpointInstances apply(EndpointId endpoint) {
    return new EndpointInstances() {
      @Override
      public List<Instance> live() {
        return ids.stream()
            .map(
                id ->
                    new Instance(
                        endpoint,
                        new InstanceId(id),
                        new TransportAddress.Tcp("127.0.0.1:1", "path"),
                        null,
                        PayloadFormat.MSGPACK))
            .toList();
      }

      @Override
      public Set<InstanceId> inhibited() {
        return Set.copyOf(aside.stream().map(InstanceId::new).toList());
      }

      @Override
      public void inhibit(InstanceId id) {
        setAside(id.value());
      }

      @Override
      public Cancellation.Registration onChange(Runnable listener) {
        throw new UnsupportedOperationException("a catalog looks when it is asked");
      }
    };
  }
}
