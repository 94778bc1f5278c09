package io.dynamo.runtime;

import io.dynamo.config.Settings;
import io.dynamo.discovery.Discovery;
import io.dynamo.discovery.DiscoveryEvent;
import io.dynamo.discovery.EndpointId;
import io.dynamo.discovery.Instance;
import io.dynamo.discovery.memory.MemoryStore;
import io.dynamo.discovery.store.KeyValueStore;
import io.dynamo.event.EventPlane;
import io.dynamo.event.RawStreams;
import io.dynamo.metrics.Metrics;
import io.dynamo.pipeline.EventLoops;
import io.dynamo.request.BidirectionalClient;
import io.dynamo.request.EndpointClient;
import io.dynamo.request.EndpointServer;
import io.dynamo.runtime.status.SystemStatus;
import io.dynamo.transfer.HostMemory;
import io.dynamo.transfer.RegionExchange;
import java.util.Map;
import java.util.concurrent.ConcurrentHashMap;
import java.util.concurrent.ExecutorService;
import java.util.concurrent.ScheduledExecutorService;

/** The assembled planes of one server, on which roles are started. Safe for concurrent use. */
public final class DynamoRuntime {
  /**
   * An endpoint that has instances, or whose instances a caller holds.
   *
   * @param asked whether {@code live} has been handed out: it must then remain the endpoint's only
   *     one
   */
  private record Known(LiveInstances live, boolean asked) {
    boolean isIdle() {
      return !asked && live.live().isEmpty();
    }
  }

  private final Settings settings;
  private final Metrics metrics;
  private final Discovery discovery;
  private final KeyValueStore store;
  private final Planes planes;
  private final HostMemory memory;
  private final SystemStatus status;
  private final ExecutorService blocking;
  private final ScheduledExecutorService timer;
  private final Map<EndpointId, Known> instances = new ConcurrentHashMap<>();

  /**
   * Receives its parts; their creator closes them, after the roles have stopped.
   *
   * @param blocking one virtual thread per task, for work that waits
   * @param timer runs short tasks at a later time
   */
  public DynamoRuntime(
      Settings settings,
      Metrics metrics,
      Discovery discovery,
      Planes planes,
      HostMemory memory,
      SystemStatus status,
      ExecutorService blocking,
      ScheduledExecutorService timer) {
    this.settings = settings;
    this.metrics = metrics;
    this.discovery = discovery;
    this.store =
        discovery instanceof KeyValueStore.Owner owner
            ? owner.store()
            : new MemoryStore().buckets(blocking);
    this.planes = planes;
    this.memory = memory;
    this.status = status;
    this.blocking = blocking;
    this.timer = timer;
    discovery.watch(Instance.class, this::onInstance);
  }

  private void onInstance(DiscoveryEvent<Instance> event) {
    Instance instance;
    switch (event) {
      case DiscoveryEvent.Added<Instance> added -> {
        instance = added.record();
        planes.client().instanceFound(instance); // before any caller can choose it
        of(instance.endpoint()).onEvent(event);
      }
      case DiscoveryEvent.Lost<Instance> lost -> {
        instance = lost.record();
        of(instance.endpoint()).onEvent(event); // before its requests look for another instance
        planes.client().instanceLost(instance);
      }
    }
    // endpoints come and go with their workers; an entry stays while a caller may hold it
    instances.computeIfPresent(instance.endpoint(), (_, known) -> known.isIdle() ? null : known);
  }

  private LiveInstances of(EndpointId endpoint) {
    return instances.computeIfAbsent(endpoint, _ -> new Known(newLive(), false)).live;
  }

  private LiveInstances newLive() {
    return new LiveInstances(settings.server().inhibitedDuration(), System::nanoTime);
  }

  public Settings settings() {
    return settings;
  }

  public Metrics metrics() {
    return metrics;
  }

  public Discovery discovery() {
    return discovery;
  }

  /**
   * Returns the key-value store that the servers of a cluster share; it is local where the backend
   * of discovery has none.
   */
  public KeyValueStore store() {
    return store;
  }

  public EndpointClient client() {
    return planes.client();
  }

  /**
   * Returns the client for requests that are streams.
   *
   * @throws IllegalStateException when the request plane has none
   */
  public BidirectionalClient exchanges() {
    if (planes.client() instanceof BidirectionalClient client) {
      return client;
    }
    throw new IllegalStateException("the request plane sends no streams");
  }

  public EndpointServer server() {
    return planes.server();
  }

  public EventPlane events() {
    return planes.events();
  }

  /** Returns the event loops of all sockets, which the runtime closes last. */
  public EventLoops loops() {
    return planes.loops();
  }

  /** Returns the message streams of other programs. */
  public RawStreams streams() {
    return planes.streams();
  }

  public HostMemory memory() {
    return memory;
  }

  /** Returns the exchange of regions of memory with other processes. */
  public RegionExchange exchange() {
    return planes.exchange();
  }

  /**
   * Returns the status of the process, where roles register their endpoints, files and commands.
   */
  public SystemStatus status() {
    return status;
  }

  /** Returns an executor that runs each task on a new virtual thread. */
  public ExecutorService blocking() {
    return blocking;
  }

  /** Returns a timer for short tasks that must not block. */
  public ScheduledExecutorService timer() {
    return timer;
  }

  /** Returns the live instances of {@code endpoint}; the same object each time. */
  public EndpointInstances instances(EndpointId endpoint) {
    var known = instances.get(endpoint);
    if (known != null && known.asked) {
      return known.live;
    }
    // atomic with the removal of idle entries: handed-out entries are marked, and marked ones stay
    return instances.compute(
            endpoint, (_, found) -> new Known(found == null ? newLive() : found.live, true))
        .live;
  }
}
