package io.dynamo.worker;

import io.dynamo.concurrent.Deadline;
import io.dynamo.discovery.Discovery;
import io.dynamo.discovery.EndpointId;
import io.dynamo.discovery.Instance;
import io.dynamo.discovery.ModelRecord;
import io.dynamo.discovery.TransportAddress;
import io.dynamo.inference.EngineOutput;
import io.dynamo.inference.FinishReason;
import io.dynamo.inference.GenerateRequest;
import io.dynamo.metrics.Label;
import io.dynamo.metrics.Metrics;
import io.dynamo.model.ModelCard;
import io.dynamo.net.PayloadFormat;
import io.dynamo.request.EndpointServer;
import io.dynamo.runtime.InstanceRegistration;
import io.dynamo.runtime.health.Canary;
import io.dynamo.runtime.status.SystemStatus;
import io.dynamo.wire.MessageCodec;
import io.dynamo.worker.engine.EngineDescription;
import io.dynamo.worker.engine.SleepableEngine;
import io.dynamo.worker.kv.KvEventPublisher;
import io.dynamo.worker.kv.KvSources;
import io.dynamo.worker.load.ForwardPasses;
import io.dynamo.worker.load.LifecycleGauges;
import io.dynamo.worker.load.LoadGauges;
import io.dynamo.worker.load.LoadPublisher;
import io.dynamo.worker.load.PrefillMarks;
import io.dynamo.worker.serve.Drain;
import io.dynamo.worker.serve.EngineGuard;
import io.dynamo.worker.serve.GenerateEndpoint;
import io.dynamo.worker.serve.Handovers;
import io.dynamo.worker.serve.HealthPayload;
import io.dynamo.worker.serve.RequestGate;
import java.lang.System.Logger.Level;
import java.util.ArrayDeque;
import java.util.Collection;
import java.util.Deque;
import java.util.function.Function;
import java.util.function.UnaryOperator;
import org.jspecify.annotations.Nullable;

/**
 * Runs one worker from start to end: starts the engine, serves the endpoint, registers model card
 * and instance, then the sources of its KV events, then publishes its load; stops in the reverse
 * order, except that requests stop first. Safe for concurrent use.
 *
 * <p>A requester that finds the instance in discovery finds a bound listener, a started engine and
 * a card, since the instance is registered last.
 */
public final class WorkerService implements AutoCloseable {
  /** The stages of a worker's life. */
  public enum State {
    NEW,
    SERVING,
    DRAINING,
    CLOSED
  }

  /** The planes that a worker uses. */
  public record Planes(
      Discovery discovery, EndpointServer server, Metrics metrics, SystemStatus status) {}

  /**
   * The publishers of events and reports for routers and planners.
   *
   * @param sources lets routers find {@code events}
   * @param loads publishes the blocks in use
   * @param marks publishes first tokens
   * @param passes publishes the engine's passes
   */
  public record Publishers(
      KvEventPublisher events,
      KvSources sources,
      LoadPublisher loads,
      PrefillMarks marks,
      ForwardPasses passes) {
    private void close() {
      sources.close();
      events.close();
      loads.close();
      marks.close();
      passes.close();
    }
  }

  /**
   * The path of a request to the engine.
   *
   * @param guard watches the engine's answers
   * @param entry converts each request to the form that the engine receives, or refuses it
   * @param probe the request that health probes send
   */
  public record EngineAccess(
      EngineGuard guard, UnaryOperator<GenerateRequest> entry, HealthPayload probe) {}

  private static final System.Logger LOG = System.getLogger(WorkerService.class.getName());

  private final EndpointId endpoint;
  private final PayloadFormat format;
  private final Planes planes;
  private final SleepableEngine engine;
  private final EngineAccess access;
  private final Publishers publishers;
  private final MessageCodec<GenerateRequest, EngineOutput> codec;
  private final Function<EngineDescription, ModelCard> card;
  private final Drain.Plan leaving;
  private final Deque<Runnable> entries = new ArrayDeque<>(); // undo discovery; guarded by this
  private final Deque<Runnable> endpoints = new ArrayDeque<>(); // close sockets; guarded by this
  private volatile WorkerLife life = new WorkerLife.New(); // written under this

  /**
   * Takes ownership of {@code engine}, the guard and all publishers.
   *
   * @param format the payload format that clients have to send
   * @param card makes the model card of the started engine
   * @param leaving how running streams end when the worker drains
   */
  public WorkerService(
      EndpointId endpoint,
      PayloadFormat format,
      Planes planes,
      SleepableEngine engine,
      EngineAccess access,
      Publishers publishers,
      MessageCodec<GenerateRequest, EngineOutput> codec,
      Function<EngineDescription, ModelCard> card,
      Drain.Plan leaving) {
    this.endpoint = endpoint;
    this.format = format;
    this.planes = planes;
    this.engine = engine;
    this.access = access;
    this.publishers = publishers;
    this.codec = codec;
    this.card = card;
    this.leaving = leaving;
  }

  /**
   * Starts the engine, then registers the worker in discovery; a failure undoes all earlier steps.
   */
  public synchronized void start() {
    if (!(life instanceof WorkerLife.New)) {
      throw new IllegalStateException("a worker starts once; it is " + state());
    }
    try {
      var description = engine.start(publishers.events);
      var model = card.apply(description);
      LoadGauges.attach(planes.metrics, engine, description.ranks(), labels(model));
      var service = open(description, model);
      publish(description);
      life = new WorkerLife.Serving(service);
      service.canary().start();
      LOG.log(
          Level.INFO,
          "worker {0} serves {1} at {2} as {3}",
          planes.discovery.instanceId(),
          model.displayName(),
          service.endpoint().address(),
          endpoint);
    } catch (RuntimeException | Error failure) {
      close();
      throw failure;
    }
  }

  /** Serves the endpoint and registers it in discovery, after which requests arrive. */
  private WorkerLife.Service open(EngineDescription description, ModelCard model) {
    var times = LifecycleGauges.attach(planes.metrics, engine::loadNanos, labels(model));
    var canary = canary(description, model);
    endpoints.push(canary::close);
    var failures = new CanaryReports(canary);
    access.guard.start(description.ranks(), failures);
    var door = new RequestGate(canary.handler(), access.guard, access.entry);
    var streams = new Handovers(publishers.marks.watch(door), System::nanoTime);
    var id = planes.discovery.instanceId();
    var served = planes.server.serve(endpoint, id, streams, codec);
    endpoints.push(served::close);
    var hosted = planes.status.files().add(endpoint, model, null);
    entries.push(hosted.files()::close);
    var published =
        new PublishedCard(planes.discovery, new ModelRecord(endpoint, id, hosted.card(), null));
    entries.push(published::close);
    var instance = new Instance(endpoint, id, served.address(), "cpu", format);
    var registration = new InstanceRegistration(planes.discovery, instance);
    entries.push(registration::close); // removed before the card, which requesters need
    registration.register();
    entries.push(canary::retire);
    return new WorkerLife.Service(
        served,
        streams,
        published,
        new Presence(registration, canary),
        canary,
        new SleepSwitch(
            engine, registration, door, access.guard, failures, canary, description.ranks()),
        times);
  }

  private Canary<GenerateRequest, EngineOutput> canary(
      EngineDescription description, ModelCard model) {
    var guard = access.guard;
    return planes
        .status
        .health()
        .add(
            endpoint.name(),
            new GenerateEndpoint(engine, description, guard),
            () -> access.probe.ask(model.displayName(), guard.rankInDoubt()),
            item -> item.finishReason() == FinishReason.ERROR || guard.isAnySilent(),
            this::followHealth);
  }

  private void publish(EngineDescription description) {
    if (description.tellsKvEvents()) {
      publishers.sources.open(planes.server, planes.discovery);
    }
    publishers.loads.start();
    publishers.passes.start();
  }

  private Label[] labels(ModelCard model) {
    return new Label[] {
      new Label("dynamo_namespace", endpoint.namespace()),
      new Label("dynamo_component", endpoint.component()),
      new Label("dynamo_endpoint", endpoint.name()),
      new Label("model", model.displayName())
    };
  }

  /** Forwards the engine's failures to its canary. */
  private record CanaryReports(Canary<?, ?> canary) implements EngineGuard.Listener {
    @Override
    public void suspected(String why) {
      canary.suspect(why);
    }

    @Override
    public void failed(String why) {
      canary.fail(why);
    }
  }

  private void followHealth() {
    if (life instanceof WorkerLife.Serving(WorkerLife.Service service)) {
      service.presence().follow();
    }
  }

  /**
   * Takes the worker out of service and frees its KV blocks; from level 2 on its weights, too.
   * Blocks on the engine.
   *
   * @return false when it already slept
   * @throws IllegalStateException when the worker does not serve
   */
  public boolean sleep(int level) {
    return serving().sleeping().sleep(level);
  }

  /**
   * Puts the worker back into service. Blocks on the engine.
   *
   * @return false when it was already awake
   * @throws IllegalStateException when the worker does not serve, or its engine cannot start
   */
  public boolean wake() {
    return serving().sleeping().wake();
  }

  /**
   * Replaces the taints that the worker publishes, which requests may require or prefer. Blocks on
   * discovery.
   *
   * @throws IllegalStateException when the worker does not serve
   */
  public void taint(Collection<String> taints) {
    serving().card().taint(taints);
  }

  private WorkerLife.Service serving() {
    var now = life;
    if (now instanceof WorkerLife.Serving(WorkerLife.Service service)) {
      return service;
    }
    throw new IllegalStateException("the worker does not serve; it is " + now.state());
  }

  public boolean isAsleep() {
    return engine.isAsleep();
  }

  /** Whether the worker serves and its endpoint is healthy. */
  public boolean isReady() {
    return life instanceof WorkerLife.Serving(WorkerLife.Service service)
        && service.canary().isReady();
  }

  public State state() {
    return life.state();
  }

  /** Returns where requests reach the worker; null while it does not serve. */
  public @Nullable TransportAddress address() {
    return life instanceof WorkerLife.Serving(WorkerLife.Service service)
        ? service.endpoint().address()
        : null;
  }

  /**
   * Leaves discovery, refuses new requests and lets the running ones end, here or on another worker
   * ({@link Drain}). Requests that still run at the deadline end in a typed error that lets their
   * requesters migrate. The engine is closed last.
   *
   * @return whether all requests ended by themselves
   */
  public boolean drain(Deadline deadline) throws InterruptedException {
    WorkerLife.Service service;
    synchronized (this) {
      if (!(life instanceof WorkerLife.Serving(WorkerLife.Service running))) {
        return life instanceof WorkerLife.Closed;
      }
      service = running;
      life = new WorkerLife.Draining(service);
      leave();
    }
    var drain = new Drain(service.streams(), leaving);
    boolean all = false;
    long begin = System.nanoTime();
    try {
      all = drain.run(service.endpoint(), deadline);
      service.times().drained(System.nanoTime() - begin);
      if (drain.handedOver() > 0) {
        LOG.log(
            Level.INFO,
            "the drain of {0} handed {1} generations to other workers",
            endpoint,
            drain.handedOver());
      }
      if (!all) {
        LOG.log(
            Level.WARNING,
            "the drain of {0} left {1} generations; they are ended so that they migrate",
            endpoint,
            engine.running());
      }
    } finally {
      close();
    }
    return all;
  }

  private void leave() {
    undo(entries);
    publishers.sources.unregister();
  }

  private static void undo(Deque<Runnable> steps) {
    for (var step = steps.poll(); step != null; step = steps.poll()) {
      step.run();
    }
  }

  /**
   * Ends everything now: leaves discovery, ends streams with a migratable error and frees the
   * engine.
   */
  @Override
  public synchronized void close() {
    var before = life;
    if (before instanceof WorkerLife.Closed) {
      return;
    }
    life = new WorkerLife.Closed();
    try {
      leave();
    } finally {
      access.guard.close();
      try {
        closeEngine(before); // its streams end as "engine shut down" before the sockets close
      } finally {
        undo(endpoints);
        publishers.close();
      }
    }
  }

  private void closeEngine(WorkerLife before) {
    long begin = System.nanoTime();
    engine.close();
    long nanos = System.nanoTime() - begin;
    switch (before) {
      case WorkerLife.Serving(WorkerLife.Service service) -> service.times().cleanedUp(nanos);
      case WorkerLife.Draining(WorkerLife.Service service) -> service.times().cleanedUp(nanos);
      case WorkerLife.New _, WorkerLife.Closed _ -> {} // never started: nothing to measure
    }
  }
}
