package io.dynamo.worker.kv;

import io.dynamo.concurrent.Alarms;
import io.dynamo.concurrent.Cancellation;
import io.dynamo.config.Settings;
import io.dynamo.config.SettingsReader;
import io.dynamo.config.key.Lookup.SettingText;
import io.dynamo.discovery.Discovery;
import io.dynamo.discovery.DiscoveryEvent;
import io.dynamo.discovery.EndpointId;
import io.dynamo.discovery.Instance;
import io.dynamo.discovery.InstanceId;
import io.dynamo.discovery.TransportAddress;
import io.dynamo.discovery.memory.MemoryDiscovery;
import io.dynamo.discovery.memory.MemoryStore;
import io.dynamo.event.EventPlane;
import io.dynamo.event.zmq.ZmqEventPlane;
import io.dynamo.kv.KvQuery;
import io.dynamo.metrics.Metrics;
import io.dynamo.metrics.WorkerMetrics;
import io.dynamo.net.PayloadFormat;
import io.dynamo.pipeline.EventLoops;
import io.dynamo.request.tcp.TcpEndpointClient;
import io.dynamo.request.tcp.TcpEndpointServer;
import io.dynamo.router.ingest.EndpointEvents;
import io.dynamo.router.ingest.EventFeed;
import io.dynamo.router.ingest.PlaneKvQueries;
import io.dynamo.router.ingest.Recoveries;
import io.dynamo.runtime.EndpointInstances;
import io.dynamo.wire.kv.KvEventCodec;
import io.dynamo.wire.kv.KvQueryCodec;
import java.time.InstantSource;
import java.util.ArrayDeque;
import java.util.Deque;
import java.util.List;
import java.util.Map;
import java.util.Random;
import java.util.Set;
import java.util.concurrent.CopyOnWriteArrayList;
import java.util.concurrent.ExecutorService;
import java.util.concurrent.Executors;
import java.util.concurrent.ScheduledExecutorService;
import org.jspecify.annotations.Nullable;

/**
 * A worker's and a router's side on loopback sockets, with discovery in memory. Events travel on
 * {@link #heard}; lost ones are queried over TCP. For one test thread.
 */
final class Fleet implements AutoCloseable {
  static final EndpointId ENDPOINT = new EndpointId("n", "c", "e");
  static final InstanceId WORKER = new InstanceId(0x2a);

  private static final int MAX_REPLY_BLOCKS = 10_000;

  /** Shared and never closed: closing takes seconds, and its threads are daemons. */
  private static final EventLoops LOOPS = new EventLoops(2);

  final Metrics metrics = new Metrics();
  final WatchedIndex index = new WatchedIndex();
  final List<KvQuery> asked = new CopyOnWriteArrayList<>();
  final LossyPlane heard;
  private final Deque<AutoCloseable> opened = new ArrayDeque<>();
  private final MemoryStore store = new MemoryStore();
  private final Settings settings = SettingsReader.read(Fleet::setting);
  private final ExecutorService threads = Executors.newVirtualThreadPerTaskExecutor();
  private final ScheduledExecutorService timer =
      Executors.newSingleThreadScheduledExecutor(Thread.ofPlatform().daemon().factory());
  private final Discovery worker = opened(new MemoryDiscovery(store, WORKER));
  private final Discovery router = opened(new MemoryDiscovery(store, new InstanceId(1)));
  private final TcpEndpointServer server =
      opened(new TcpEndpointServer(settings.tcp(), LOOPS, metrics));
  private final TcpEndpointClient client =
      opened(new TcpEndpointClient(settings.tcp(), LOOPS, metrics));
  private final EventPlane eventPlane;

  /**
   * @param local carries events for both sides
   */
  Fleet(long seed, EventPlane local) {
    eventPlane = opened(local);
    heard = new LossyPlane(local, seed);
  }

  /** Creates a fleet with events over ZeroMQ. */
  Fleet(long seed) {
    eventPlane = opened(zmq(worker, seed));
    heard = new LossyPlane(opened(zmq(router, seed + 1)), seed);
  }

  private EventPlane zmq(Discovery discovery, long seed) {
    return new ZmqEventPlane(
        discovery, settings.event(), LOOPS, metrics, new Random(seed), InstantSource.system());
  }

  private static @Nullable SettingText setting(String name) {
    var text =
        Map.of(
                "java.io.tmpdir", "/tmp",
                "server.config.dir", "/srv/config",
                "server.output.dir", "/srv/output")
            .get(name);
    return text == null ? null : new SettingText(text, "test");
  }

  private <T extends AutoCloseable> T opened(T part) {
    opened.push(part);
    return part;
  }

  /** A worker's side of the events, with {@code ranks} that hold nothing. */
  final class Telling implements AutoCloseable {
    final KvEventPublisher events;
    private final KvSources sources;

    private Telling(int ranks) {
      events =
          new KvEventPublisher(
              eventPlane,
              ENDPOINT,
              WORKER,
              ranks,
              KvEventCodec::encode,
              Runnable::run,
              metrics.counter(WorkerMetrics.KV_EVENTS_DROPPED),
              MAX_REPLY_BLOCKS);
      sources = new KvSources(events, ENDPOINT, PayloadFormat.MSGPACK, new KvQueryCodec(), threads);
      sources.open(server, worker);
    }

    @Override
    public void close() {
      sources.close();
      events.close();
    }
  }

  Telling tell(int ranks) {
    return opened(new Telling(ranks));
  }

  /** Registers the worker's instance in discovery. */
  Discovery.Handle register() {
    return worker.register(
        new Instance(
            ENDPOINT,
            WORKER,
            new TransportAddress.Tcp("127.0.0.1:1", "e"),
            "cpu",
            PayloadFormat.MSGPACK));
  }

  /** Makes the router's side follow the endpoint. */
  void follow() {
    var queries = new PlaneKvQueries(client, new KvQueryCodec(), Runnable::run);
    var random = new Random(1);
    var alarm = Alarms.on(timer);
    var recoveries =
        new Recoveries(
            (target, query) -> {
              asked.add(query);
              return queries.ask(target, query);
            },
            alarm,
            threads,
            random::nextDouble);
    var feed =
        new EventFeed(
            heard, router, KvEventCodec::encode, KvEventCodec::decode, recoveries, alarm, threads);
    opened(
        new EndpointEvents(
            ENDPOINT, new DiscoveredInstances(router), index, feed, metrics, System::nanoTime));
  }

  /** The worker's instance as registered in discovery. */
  private static final class DiscoveredInstances implements EndpointInstances {
    private final List<Instance> live = new CopyOnWriteArrayList<>();
    private final List<Runnable> listeners = new CopyOnWriteArrayList<>();

    DiscoveredInstances(Discovery discovery) {
      discovery.watch(Instance.class, this::changed);
    }

    private void changed(DiscoveryEvent<Instance> event) {
      switch (event) {
        case DiscoveryEvent.Added<Instance>(var one) when one.endpoint().equals(ENDPOINT) ->
            live.add(one);
        case DiscoveryEvent.Lost<Instance>(var one) when one.endpoint().equals(ENDPOINT) ->
            live.remove(one);
        case DiscoveryEvent.Added<Instance> _, DiscoveryEvent.Lost<Instance> _ -> {}
      }
      listeners.forEach(Runnable::run);
    }

    @Override
    public List<Instance> live() {
      return List.copyOf(live);
    }

    @Override
    public Set<InstanceId> inhibited() {
      return Set.of();
    }

    @Override
    public void inhibit(InstanceId id) {
      throw new UnsupportedOperationException("nobody asks for this");
    }

    @Override
    public Cancellation.Registration onChange(Runnable listener) {
      listeners.add(listener);
      listener.run();
      return () -> listeners.remove(listener);
    }
  }

  @Override
  public void close() {
    while (!opened.isEmpty()) {
      try {
        opened.pop().close();
      } catch (Exception e) {
        throw new AssertionError("a part does not close", e);
      }
    }
    timer.shutdownNow();
    threads.close();
  }
}
