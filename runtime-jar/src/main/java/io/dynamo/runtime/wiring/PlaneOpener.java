package io.dynamo.runtime.wiring;

import io.dynamo.concurrent.Alarms;
import io.dynamo.config.Settings;
import io.dynamo.config.plane.DiscoverySettings;
import io.dynamo.config.plane.EventSettings;
import io.dynamo.config.plane.RequestPlane;
import io.dynamo.config.watch.MetricsSettings;
import io.dynamo.config.watch.TraceSettings;
import io.dynamo.discovery.Discovery;
import io.dynamo.discovery.InstanceId;
import io.dynamo.discovery.etcd.EtcdDiscovery;
import io.dynamo.discovery.etcd.StoreGuard;
import io.dynamo.discovery.file.FileDiscovery;
import io.dynamo.discovery.kubernetes.KubernetesDiscovery;
import io.dynamo.discovery.memory.MemoryDiscovery;
import io.dynamo.discovery.memory.MemoryStore;
import io.dynamo.event.EventPlane;
import io.dynamo.event.local.LocalEventPlane;
import io.dynamo.event.nats.JetStreamEventPlane;
import io.dynamo.event.nats.NatsEventPlane;
import io.dynamo.event.zmq.ZmqEventPlane;
import io.dynamo.event.zmq.ZmqRawStreams;
import io.dynamo.kv.KvEventSource;
import io.dynamo.metrics.EndpointMetrics;
import io.dynamo.metrics.Label;
import io.dynamo.metrics.Metrics;
import io.dynamo.metrics.PrometheusText;
import io.dynamo.nats.NatsLink;
import io.dynamo.request.TracedServer;
import io.dynamo.runtime.ClosingStack;
import io.dynamo.runtime.DynamoRuntime;
import io.dynamo.runtime.Planes;
import io.dynamo.runtime.health.SystemHealth;
import io.dynamo.runtime.http.Container;
import io.dynamo.runtime.http.HttpPort;
import io.dynamo.runtime.status.SystemStatus;
import io.dynamo.trace.Tracing;
import io.dynamo.trace.otlp.OtlpTracing;
import java.nio.file.Path;
import java.security.SecureRandom;
import java.time.InstantSource;
import java.util.Objects;
import java.util.Set;
import java.util.concurrent.ExecutorService;
import java.util.concurrent.Executors;
import java.util.concurrent.ScheduledExecutorService;
import java.util.concurrent.ScheduledThreadPoolExecutor;
import java.util.concurrent.TimeUnit;
import java.util.function.Consumer;
import java.util.random.RandomGenerator;
import org.eclipse.microprofile.config.ConfigProvider;
import org.eclipse.microprofile.metrics.MetricRegistry;
import org.jspecify.annotations.Nullable;

/**
 * Opens the runtime of a server: the HTTP port's configuration first, metrics and executors, then
 * discovery, and last the event plane, whose publishers are found through discovery.
 */
final class PlaneOpener implements RuntimeOpener {
  private static final double NANOS_PER_SECOND = 1e9;
  private static final long METRICS_REFRESH_MILLIS = 1000;

  private final MetricRegistry registry;
  private final PlaneFactory planes;
  private final StoreGuard etcd;
  private final Consumer<RuntimeException> onPortTaken;

  /**
   * @param etcd guards calls to etcd
   * @param onPortTaken called when another process has the HTTP port
   */
  PlaneOpener(
      MetricRegistry registry,
      PlaneFactory planes,
      StoreGuard etcd,
      Consumer<RuntimeException> onPortTaken) {
    this.onPortTaken = onPortTaken;
    this.registry = registry;
    this.planes = planes;
    this.etcd = etcd;
  }

  @Override
  public DynamoRuntime open(Settings settings, ClosingStack opened) {
    var random = new SecureRandom();
    var clock = InstantSource.system();
    var timer = timer(opened);
    // first: with a refused port or certificate nothing is opened
    opened.push(
        "HTTP port",
        HttpPort.open(settings.server(), settings.frontend(), container(), timer, onPortTaken));
    var metrics = metrics(settings.watch().metrics(), timer, opened);
    var blocking = blocking(opened);
    var text = new PrometheusText();
    metrics.attach(text);
    var health = new SystemHealth(settings.status(), Alarms.on(timer), blocking, System::nanoTime);
    var status = new SystemStatus(health);
    var tracing = tracing(settings.watch().trace(), opened); // closed after these parts
    var link = nats(settings, timer, opened);
    var outlets = new PlaneFactory.Outlets(metrics, text, status, link);
    var parts = planes.open(settings, outlets, opened);
    var discovery = opened.push("discovery", discovery(settings.discovery(), random, clock));
    if (discovery instanceof KubernetesDiscovery kubernetes) {
      status.publishMetadata(kubernetes::metadata);
    }
    metrics.gauge(
        EndpointMetrics.UPTIME,
        () -> health.uptime().toNanos() / NANOS_PER_SECOND,
        new Label("worker_id", discovery.instanceId().hex()));
    var events =
        opened.push(
            "events",
            events(settings, parts, new EventParts(link, discovery, metrics, random, clock)));
    var streams = opened.push("streams", new ZmqRawStreams(settings.event(), parts.loops()));
    return new DynamoRuntime(
        settings,
        metrics,
        discovery,
        new Planes(
            parts.loops(),
            parts.client(),
            tracing.isOn() ? new TracedServer(parts.server(), tracing) : parts.server(),
            events,
            streams,
            parts.exchange()),
        parts.memory(),
        status,
        blocking,
        timer);
  }

  /** Returns the container; null outside of one. */
  private static @Nullable Container container() {
    return ConfigProvider.getConfig()
        .getOptionalValue("server.output.dir", String.class)
        .map(folder -> Container.of(Path.of(folder)))
        .orElse(null);
  }

  static ScheduledThreadPoolExecutor timer(ClosingStack opened) {
    var timer =
        new ScheduledThreadPoolExecutor(
            1, Thread.ofPlatform().daemon().name("runtime-timer").factory());
    // a request's deadline task references the request: it must be removed with it, not at the
    // deadline
    timer.setRemoveOnCancelPolicy(true);
    opened.push("timer", timer::shutdownNow);
    return timer;
  }

  /**
   * Returns the tracing, off unless the settings request it: the exporter's classes are then not
   * even loaded.
   */
  private static Tracing tracing(TraceSettings settings, ClosingStack opened) {
    return settings.export() ? opened.push("traces", new OtlpTracing(settings)) : Tracing.OFF;
  }

  private static ExecutorService blocking(ClosingStack opened) {
    var blocking =
        Executors.newThreadPerTaskExecutor(Thread.ofVirtual().name("blocking-", 0).factory());
    opened.push("blocking", blocking::shutdownNow);
    return blocking;
  }

  private Metrics metrics(
      MetricsSettings settings, ScheduledExecutorService timer, ClosingStack opened) {
    var metrics = new Metrics(FrontendNaming.of(settings));
    var outlet = new MicroProfileMetricsOutlet(registry);
    metrics.attach(outlet);
    opened.push(
        "metrics",
        () -> {
          metrics.detach(outlet);
          outlet.close();
        });
    var _ =
        timer.scheduleAtFixedRate(
            outlet::refresh, METRICS_REFRESH_MILLIS, METRICS_REFRESH_MILLIS, TimeUnit.MILLISECONDS);
    return metrics;
  }

  private Discovery discovery(
      DiscoverySettings settings, RandomGenerator random, InstantSource clock) {
    return switch (settings.backend()) {
      case MEMORY -> new MemoryDiscovery(new MemoryStore(), new InstanceId(random.nextLong()));
      case FILE ->
          new FileDiscovery(
              settings.fileRoot(),
              settings.fileShared(),
              settings.leaseTtl(),
              new InstanceId(random.nextLong()),
              clock);
      case ETCD -> // the id is that of its lease
          EtcdDiscovery.open(
              settings.etcd(), new InstanceId(random.nextLong(1, Long.MAX_VALUE)), etcd, random);
      case KUBERNETES -> KubernetesDiscovery.open(settings.kubernetes());
    };
  }

  /** Connects to NATS when a plane uses it. */
  private static @Nullable NatsLink nats(
      Settings settings, ScheduledExecutorService timer, ClosingStack opened) {
    return settings.event().plane() == EventSettings.Plane.NATS
            || settings.request().has(RequestPlane.NATS)
        ? opened.push("nats", NatsLink.open(settings.nats(), Alarms.on(timer)))
        : null;
  }

  /** The parts that every event plane needs. */
  private record EventParts(
      @Nullable NatsLink link,
      Discovery discovery,
      Metrics metrics,
      RandomGenerator random,
      InstantSource clock) {}

  private static EventPlane events(
      Settings settings, PlaneFactory.Planes planes, EventParts parts) {
    var event = settings.event();
    return switch (event.plane()) {
      case LOCAL ->
          new LocalEventPlane(
              event.queueCapacity(), event.queueBytes(), parts.metrics, parts.random, parts.clock);
      case ZMQ ->
          new ZmqEventPlane(
              parts.discovery, event, planes.loops(), parts.metrics, parts.random, parts.clock);
      case NATS -> natsEvents(settings, parts);
    };
  }

  private static EventPlane natsEvents(Settings settings, EventParts parts) {
    var link = Objects.requireNonNull(parts.link);
    var storage = settings.nats().storage();
    return storage == null
        ? new NatsEventPlane(
            link, parts.discovery, settings.event(), parts.metrics, parts.random, parts.clock)
        : new JetStreamEventPlane(
            link,
            parts.discovery,
            settings.event(),
            storage,
            Set.of(KvEventSource.TOPIC),
            parts.metrics,
            parts.random,
            parts.clock);
  }
}
