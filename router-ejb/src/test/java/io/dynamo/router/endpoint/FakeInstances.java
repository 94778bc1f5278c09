package io.dynamo.router.endpoint;

import io.dynamo.concurrent.Cancellation;
import io.dynamo.discovery.EndpointId;
import io.dynamo.discovery.Instance;
import io.dynamo.discovery.InstanceId;
import io.dynamo.discovery.TransportAddress;
import io.dynamo.discovery.WorkerSet;
import io.dynamo.net.PayloadFormat;
import io.dynamo.runtime.EndpointInstances;
import java.util.ArrayList;
import java.util.HashSet;
import java.util.List;
import java.util.Set;
import java.util.stream.LongStream;
import org.jspecify.annotations.Nullable;

/** A set of live workers that the test controls; listeners run on the test's thread. */
public final class FakeInstances implements EndpointInstances {
  public static final EndpointId ENDPOINT = new EndpointId("ns", "backend", "generate");

  /** The set of the workers that serve the one model. */
  public static final WorkerSet WORKERS = new WorkerSet(ENDPOINT, "m", null, null, 4);

  private final List<Runnable> listeners = new ArrayList<>();
  private final Set<InstanceId> inhibited = new HashSet<>();
  private List<Instance> live = List.of();

  /** Replaces the live workers. */
  public void set(long... ids) {
    set(LongStream.of(ids).mapToObj(FakeInstances::instance).toList());
  }

  public void set(List<Instance> instances) {
    live = instances;
    List.copyOf(listeners).forEach(Runnable::run);
  }

  public static Instance instance(long id) {
    return instance(id, null);
  }

  public static Instance instance(long id, @Nullable String deviceType) {
    return new Instance(
        ENDPOINT,
        new InstanceId(id),
        new TransportAddress.Tcp("127.0.0.1:1", id + "/path"),
        deviceType,
        PayloadFormat.JSON);
  }

  /** Returns the listeners, in order of registration. */
  public List<Runnable> listeners() {
    return listeners;
  }

  @Override
  public List<Instance> live() {
    return live;
  }

  @Override
  public Set<InstanceId> inhibited() {
    return Set.copyOf(inhibited);
  }

  @Override
  public void inhibit(InstanceId id) {
    inhibited.add(id);
  }

  @Override
  public Cancellation.Registration onChange(Runnable listener) {
    listeners.add(listener);
    listener.run();
    return () -> listeners.remove(listener);
  }
}
