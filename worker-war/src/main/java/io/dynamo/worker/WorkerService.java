package io.dynamo.worker;

import io.dynamo.concurrent.Deadline;
import io.dynamo.discovery.Discovery;
import io.dynamo.discovery.EndpointId;
import io.dynamo.discovery.Instance;
import io.dynamo.discovery.ModelRecord;
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
import io.dynamo.runtime.status.Registered;
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
import io.dynamo.worker.serve.FrontDoor;
import io.dynamo.worker.serve.GenerateEndpoint;
import io.dynamo.worker.serve.Handovers;
import io.dynamo.worker.serve.HealthPayload;
import java.lang.System.Logger.Level;
import java.util.Collection;
import java.util.Objects;
import java.util.function.Function;
import java.util.function.UnaryOperator;
import org.jspecify.annotations.Nullable;

/**
 * Runs one worker from start to end: starts the engine, serves the endpoint, registers model card
 * and instance, then the sources of its KV events, then publishes its load; stops in the reverse
 * order, except that requests stop first. Safe for concurrent use.
 *
 * <p>Requests are only found through discovery, so whoever finds the instance finds a bound
 * listener, a started engine and a card.
 */
public final class WorkerService implements AutoCloseable {
  /** How far a worker has come. */
  public enum State {
    NEW,
    SERVING,
    DRAINING,
    CLOSED
  }

  /** The planes that a worker stands on. */
  public record Planes(
      Discovery discovery, EndpointServer server, Metrics metrics, SystemStatus status) {}

  /**
   * The publishers of events and reports for routers and planners.
   *
   * @param sources lets them find {@code events}
   * @param loads tells of blocks in use
   * @param marks tells of first tokens
   * @param passes tells of the engine's passes
   */
  public record Outlets(
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
   * The checks that a request passes before it reaches the engine.
   *
   * @param entry makes of each request what the engine gets, or refuses it
   * @param probe what is asked where nobody else asks
   */
  public record Entrance(
      EngineGuard guard, UnaryOperator<GenerateRequest> entry, HealthPayload probe) {}

  private static final System.Logger LOG = System.getLogger(WorkerService.class.getName());

  private final EndpointId endpoint;
  private final PayloadFormat format;
  private final Planes planes;
  private final SleepableEngine engine;
  private final EngineGuard guard;
  private final UnaryOperator<GenerateRequest> entry;
  private final HealthPayload probe;
  private final Outlets outlets;
  private final MessageCodec<GenerateRequest, EngineOutput> codec;
  private final Function<EngineDescription, ModelCard> card;
  private final Drain.Plan leaving;
  private volatile State state = State.NEW; // written under this
  private EndpointServer.@Nullable Served served; // guarded by this, like what follows
  private @Nullable Handovers streams;
  private volatile @Nullable PublishedCard published;
  private @Nullable InstanceRegistration registration;
  private volatile @Nullable Presence presence;
  private volatile @Nullable Canary<GenerateRequest, EngineOutput> canary;
  private @Nullable Registered files;
  private volatile @Nullable LifecycleGauges times;
  private volatile @Nullable Sleeping sleeping;

  /**
   * Takes ownership of {@code engine}, the guard and what is in {@code outlets}.
   *
   * @param format what clients are told to send
   * @param card makes the model card of the started engine
   * @param leaving where its streams go when it drains
   */
  public WorkerService(
      EndpointId endpoint,
      PayloadFormat format,
      Planes planes,
      SleepableEngine engine,
      Entrance entrance,
      Outlets outlets,
      MessageCodec<GenerateRequest, EngineOutput> codec,
      Function<EngineDescription, ModelCard> card,
      Drain.Plan leaving) {
    this.endpoint = endpoint;
    this.format = format;
    this.planes = planes;
    this.engine = engine;
    this.guard = entrance.guard;
    this.entry = entrance.entry;
    this.probe = entrance.probe;
    this.outlets = outlets;
    this.codec = codec;
    this.card = card;
    this.leaving = leaving;
  }

  /** Starts the engine, then registers it in discovery; a failure undoes all earlier steps. */
  public synchronized void start() {
    if (state != State.NEW) {
      throw new IllegalStateException("a worker starts once; it is " + state);
    }
    try {
      var told = engine.start(outlets.events);
      var model = card.apply(told);
      LoadGauges.attach(planes.metrics, engine, told.ranks(), labels(model));
      times = LifecycleGauges.attach(planes.metrics, engine::loadNanos, labels(model));
      var id = planes.discovery.instanceId();
      var watched =
          planes
              .status
              .health()
              .add(
                  endpoint.name(),
                  new GenerateEndpoint(engine, told, guard),
                  () -> probe.ask(model.displayName(), guard.rankInDoubt()),
                  item -> item.finishReason() == FinishReason.ERROR || guard.isAnySilent(),
                  this::followHealth);
      canary = watched;
      var onTrouble = new Trouble(watched);
      guard.start(told.ranks(), onTrouble);
      var door = new FrontDoor(watched.handler(), guard, entry);
      var answers = new Handovers(outlets.marks.watch(door), System::nanoTime);
      var at = planes.server.serve(endpoint, id, answers, codec);
      streams = answers;
      served = at;
      var hosted = planes.status.files().add(endpoint, model, null);
      files = hosted.files();
      published =
          new PublishedCard(planes.discovery, new ModelRecord(endpoint, id, hosted.card(), null));
      var record = new Instance(endpoint, id, at.address(), "cpu", format);
      var registered = new InstanceRegistration(planes.discovery, record);
      registration = registered;
      registered.register();
      presence = new Presence(registered, watched);
      sleeping = new Sleeping(engine, registered, door, guard, onTrouble, watched, told.ranks());
      if (told.tellsKvEvents()) {
        outlets.sources.open(planes.server, planes.discovery);
      }
      outlets.loads.start();
      outlets.passes.start();
      state = State.SERVING;
      watched.start();
      LOG.log(
          Level.INFO,
          "worker {0} serves {1} at {2} as {3}",
          id,
          model.displayName(),
          at.address(),
          endpoint);
    } catch (RuntimeException | Error failure) {
      close();
      throw failure;
    }
  }

  private Label[] labels(ModelCard model) {
    return new Label[] {
      new Label("dynamo_namespace", endpoint.namespace()),
      new Label("dynamo_component", endpoint.component()),
      new Label("dynamo_endpoint", endpoint.name()),
      new Label("model", model.displayName())
    };
  }

  /** Passes the engine's failures on to its canary. */
  private record Trouble(Canary<?, ?> canary) implements EngineGuard.Listener {
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
    var at = presence;
    if (at != null && state == State.SERVING) {
      at.follow();
    }
  }

  /**
   * Takes the worker out of service and frees its KV blocks; from level 2 on its weights, too.
   * Waits for the engine.
   *
   * @return false when it slept already
   * @throws IllegalStateException when the worker does not serve
   */
  public boolean sleep(int level) {
    return sleeper().sleep(level);
  }

  /**
   * Puts the worker back into service. Waits for the engine.
   *
   * @return false when it was awake already
   * @throws IllegalStateException when the worker does not serve, or its engine cannot start
   */
  public boolean wake() {
    return sleeper().wake();
  }

  /**
   * Replaces the taints that the worker publishes, which requests may require or prefer. Waits for
   * discovery.
   *
   * @throws IllegalStateException when the worker does not serve
   */
  public void taint(Collection<String> taints) {
    var shown = published;
    if (state != State.SERVING || shown == null) {
      throw new IllegalStateException("the worker does not serve; it is " + state);
    }
    shown.taint(taints);
  }

  private Sleeping sleeper() {
    var known = sleeping;
    if (state != State.SERVING || known == null) {
      throw new IllegalStateException("the worker does not serve; it is " + state);
    }
    return known;
  }

  public boolean isAsleep() {
    return engine.isAsleep();
  }

  /** Whether it serves and its endpoint is in good health. */
  public boolean isReady() {
    var watched = canary;
    return state == State.SERVING && watched != null && watched.isReady();
  }

  public State state() {
    return state;
  }

  /**
   * Leaves discovery, refuses new requests and lets the running ones end, here or with another
   * worker ({@link Drain}). What still runs at the deadline ends in a typed error that lets its
   * requester migrate. The engine is closed after it.
   *
   * @return whether all of them ended by themselves
   */
  public boolean drain(Deadline deadline) throws InterruptedException {
    EndpointServer.Served serving;
    Drain drain;
    synchronized (this) {
      if (state != State.SERVING) {
        return state == State.CLOSED;
      }
      state = State.DRAINING;
      leave();
      serving = Objects.requireNonNull(served);
      drain = new Drain(Objects.requireNonNull(streams), leaving);
    }
    boolean all = false;
    long begun = System.nanoTime();
    try {
      all = drain.run(serving, deadline);
      var measured = times;
      if (measured != null) {
        measured.drained(System.nanoTime() - begun);
      }
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

  private void leave() { // the instance first: nobody is sent to a worker without a card
    var watched = canary;
    if (watched != null) {
      watched.retire();
    }
    if (files != null) {
      files.close();
      files = null;
    }
    if (registration != null) {
      registration.close();
    }
    var shown = published;
    if (shown != null) {
      shown.close();
      published = null;
    }
    outlets.sources.unregister();
  }

  /** Ends everything now: out of discovery, streams ended as migratable, engine freed. */
  @Override
  public synchronized void close() {
    if (state == State.CLOSED) {
      return;
    }
    state = State.CLOSED;
    try {
      leave();
    } finally {
      guard.close();
      try {
        closeEngine(); // its streams end as "engine shut down" before their sockets go
      } finally {
        if (served != null) {
          served.close();
        }
        var watched = canary;
        if (watched != null) {
          watched.close();
        }
        outlets.close();
      }
    }
  }

  private void closeEngine() {
    long begun = System.nanoTime();
    engine.close();
    var measured = times;
    if (measured != null) {
      measured.cleanedUp(System.nanoTime() - begun);
    }
  }
}
