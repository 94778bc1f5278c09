package io.dynamo.worker;

import io.dynamo.concurrent.Deadline;
import io.dynamo.discovery.EndpointId;
import io.dynamo.discovery.Instance;
import io.dynamo.discovery.ModelRecord;
import io.dynamo.discovery.TransportAddress;
import io.dynamo.inference.EmbeddingOutput;
import io.dynamo.inference.EmbeddingRequest;
import io.dynamo.model.ModelCard;
import io.dynamo.net.PayloadFormat;
import io.dynamo.request.EndpointServer;
import io.dynamo.runtime.InstanceRegistration;
import io.dynamo.runtime.health.Canary;
import io.dynamo.wire.generate.EmbeddingCodec;
import io.dynamo.worker.engine.EmbeddingDescription;
import io.dynamo.worker.engine.EmbeddingEngine;
import io.dynamo.worker.serve.EmbeddingEndpoint;
import java.lang.System.Logger.Level;
import java.util.ArrayDeque;
import java.util.Deque;
import java.util.List;
import java.util.function.Function;
import java.util.function.Supplier;
import org.jspecify.annotations.Nullable;

/**
 * Serves one model's embeddings at an endpoint of its own, from start to end: starts the engine,
 * serves the endpoint, registers the model card, then the instance; stops in the reverse order,
 * except that requests stop first. Safe for concurrent use.
 *
 * <p>A worker that sleeps takes it along: there is no engine then, and no instance in discovery.
 */
public final class EmbeddingService implements AutoCloseable {
  private static final System.Logger LOG = System.getLogger(EmbeddingService.class.getName());

  /** The parts of a started service. */
  private record Service(
      EndpointServer.Served endpoint,
      InstanceRegistration registration,
      Canary<EmbeddingRequest, EmbeddingOutput> canary,
      Presence presence) {}

  private final EndpointId endpoint;
  private final PayloadFormat format;
  private final WorkerService.Planes planes;
  private final Supplier<? extends EmbeddingEngine> engines;
  private final Function<EmbeddingDescription, ModelCard> card;
  private final EmbeddingEndpoint handler;
  private final Deque<Runnable> entries = new ArrayDeque<>(); // undo discovery; guarded by this
  private final Deque<Runnable> sockets = new ArrayDeque<>(); // close them; guarded by this
  private volatile @Nullable EmbeddingEngine engine; // null while it rests; written under this
  private volatile @Nullable Service service; // set while it serves or rests; written under this
  private volatile WorkerService.State state = WorkerService.State.NEW; // written under this

  /**
   * @param format the payload format that clients have to send
   * @param engines makes the engine, not started, and a new one after each rest
   * @param card makes the model card of the started engine
   * @param maxAnswerBytes the most bytes of one answer
   */
  public EmbeddingService(
      EndpointId endpoint,
      PayloadFormat format,
      WorkerService.Planes planes,
      Supplier<? extends EmbeddingEngine> engines,
      Function<EmbeddingDescription, ModelCard> card,
      int maxAnswerBytes) {
    this.endpoint = endpoint;
    this.format = format;
    this.planes = planes;
    this.engines = engines;
    this.card = card;
    this.handler = new EmbeddingEndpoint(maxAnswerBytes, this::suspect);
  }

  /**
   * Starts the engine, then registers the endpoint in discovery; a failure undoes all earlier
   * steps.
   */
  public synchronized void start() {
    if (state != WorkerService.State.NEW) {
      throw new IllegalStateException("a worker starts once; it is " + state);
    }
    try {
      var description = startEngine();
      var model = card.apply(description);
      var opened = open(model);
      service = opened;
      state = WorkerService.State.SERVING;
      opened.canary.start();
      LOG.log(
          Level.INFO,
          "worker {0} embeds with {1} at {2} as {3}",
          planes.discovery().instanceId(),
          model.displayName(),
          opened.endpoint.address(),
          endpoint);
    } catch (RuntimeException | Error failure) {
      close();
      throw failure;
    }
  }

  private EmbeddingDescription startEngine() { // caller holds this
    var made = engines.get();
    try {
      var description = made.start();
      engine = made;
      handler.serve(made, description);
      return description;
    } catch (RuntimeException | Error failure) {
      made.close();
      throw failure;
    }
  }

  private Service open(ModelCard model) { // caller holds this
    var canary =
        planes
            .status()
            .health()
            .<EmbeddingRequest, EmbeddingOutput>add(
                endpoint.name(),
                handler,
                () -> probe(model.displayName()),
                _ -> false,
                this::followHealth);
    sockets.push(canary::close);
    var id = planes.discovery().instanceId();
    var served = planes.server().serve(endpoint, id, canary.handler(), new EmbeddingCodec());
    sockets.push(served::close);
    var hosted = planes.status().files().add(endpoint, model, null);
    entries.push(hosted.files()::close);
    var published =
        new PublishedCard(planes.discovery(), new ModelRecord(endpoint, id, hosted.card(), null));
    entries.push(published::close);
    var registration =
        new InstanceRegistration(
            planes.discovery(), new Instance(endpoint, id, served.address(), "cpu", format));
    entries.push(registration::close); // removed before the card, which requesters need
    registration.register();
    entries.push(canary::retire);
    return new Service(served, registration, canary, new Presence(registration, canary));
  }

  /** Returns the smallest request that an engine can serve. */
  private static EmbeddingRequest probe(String model) {
    return new EmbeddingRequest(model, List.of(new int[] {1}), false, null, null, null, List.of());
  }

  private void suspect(String why) {
    var at = service;
    if (at != null && engine != null) {
      at.canary.suspect(why);
    }
  }

  private void followHealth() {
    var at = service;
    if (at != null) {
      at.presence.follow();
    }
  }

  /** Leaves discovery and closes the engine, whose weights are about to go. Idempotent. */
  public synchronized void rest() {
    var at = service;
    if (at == null || engine == null) {
      return;
    }
    at.registration.unregister();
    at.canary.rest();
    closeEngine();
  }

  /**
   * Makes and starts a new engine after a rest, and returns to discovery.
   *
   * @throws IllegalStateException when the engine cannot start
   */
  public synchronized void resume() {
    var at = service;
    if (at == null || engine != null || state != WorkerService.State.SERVING) {
      return;
    }
    startEngine();
    at.canary.start();
    at.registration.register();
  }

  public WorkerService.State state() {
    return state;
  }

  /** Whether it rests, with the worker that sleeps. */
  public boolean isResting() {
    return service != null && engine == null;
  }

  /** Whether it serves and its endpoint is healthy. */
  public boolean isReady() {
    var at = service;
    return at != null && state == WorkerService.State.SERVING && at.canary.isReady();
  }

  /** Returns where requests reach it; null while it does not serve. */
  public @Nullable TransportAddress address() {
    var at = service;
    return at == null ? null : at.endpoint.address();
  }

  /** Returns the number of requests that run or wait. */
  public int running() {
    var at = engine;
    return at == null ? 0 : at.running();
  }

  /** Leaves discovery; requests that come all the same are answered still. Idempotent. */
  public synchronized void leave() {
    if (state == WorkerService.State.SERVING) {
      state = WorkerService.State.DRAINING;
    }
    undo(entries);
  }

  /**
   * Leaves discovery, refuses new requests, waits for the running ones until the deadline, and
   * frees everything.
   *
   * @return whether all requests ended by themselves
   */
  public boolean drain(Deadline deadline) throws InterruptedException {
    leave();
    var at = service;
    try {
      return at == null || at.endpoint.drain(deadline);
    } finally {
      close();
    }
  }

  private static void undo(Deque<Runnable> steps) {
    for (var step = steps.poll(); step != null; step = steps.poll()) {
      step.run();
    }
  }

  private void closeEngine() { // caller holds this
    handler.rest();
    var at = engine;
    engine = null;
    if (at != null) {
      at.close();
    }
  }

  /** Ends everything now; running requests go to other workers. Idempotent. */
  @Override
  public synchronized void close() {
    state = WorkerService.State.CLOSED;
    service = null;
    try {
      undo(entries);
    } finally {
      try {
        closeEngine(); // its streams end as "engine shut down" before the sockets close
      } finally {
        undo(sockets);
      }
    }
  }
}
