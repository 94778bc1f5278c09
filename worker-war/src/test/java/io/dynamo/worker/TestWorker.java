package io.dynamo.worker;

import static org.assertj.core.api.Assertions.assertThat;

import io.dynamo.concurrent.Deadline;
import io.dynamo.config.watch.StatusSettings;
import io.dynamo.discovery.Discovery;
import io.dynamo.discovery.DiscoveryEvent;
import io.dynamo.discovery.DiscoveryRecord;
import io.dynamo.discovery.EndpointId;
import io.dynamo.discovery.Instance;
import io.dynamo.discovery.InstanceId;
import io.dynamo.discovery.ModelRecord;
import io.dynamo.discovery.TransportAddress;
import io.dynamo.event.local.LocalEventPlane;
import io.dynamo.inference.EngineOutput;
import io.dynamo.inference.GenerateRequest;
import io.dynamo.metrics.Metrics;
import io.dynamo.metrics.WorkerMetrics;
import io.dynamo.net.PayloadFormat;
import io.dynamo.request.EndpointHandler;
import io.dynamo.request.EndpointServer;
import io.dynamo.runtime.health.SystemHealth;
import io.dynamo.runtime.status.SystemStatus;
import io.dynamo.wire.MessageCodec;
import io.dynamo.wire.generate.GenerateCodec;
import io.dynamo.wire.kv.KvEventCodec;
import io.dynamo.wire.kv.KvQueryCodec;
import io.dynamo.worker.control.ModelControls;
import io.dynamo.worker.engine.Collected;
import io.dynamo.worker.engine.EngineParts;
import io.dynamo.worker.engine.Requests;
import io.dynamo.worker.engine.SleepableEngine;
import io.dynamo.worker.kv.KvEventPublisher;
import io.dynamo.worker.kv.KvSources;
import io.dynamo.worker.load.ForwardPasses;
import io.dynamo.worker.load.LoadPublisher;
import io.dynamo.worker.load.PrefillMarks;
import io.dynamo.worker.lora.Adapters;
import io.dynamo.worker.serve.Drain;
import io.dynamo.worker.serve.EngineGuard;
import io.dynamo.worker.serve.HealthPayload;
import java.time.Duration;
import java.time.InstantSource;
import java.util.ArrayList;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.Random;
import java.util.concurrent.Flow;
import java.util.function.Consumer;
import java.util.function.Supplier;

/**
 * A whole worker on planes within the test, its clock moved by hand. Endpoints are called directly,
 * and records stay in memory. For one test thread.
 */
public final class TestWorker implements AutoCloseable {
  public static final EndpointId ENDPOINT = new EndpointId("n", "c", "generate");
  public static final Duration STALL = Duration.ofSeconds(30);
  public static final int VOCABULARY = 1000;

  public final HandAlarms alarms = new HandAlarms();
  public final List<DiscoveryRecord> records = new ArrayList<>();
  public final SystemStatus status;
  public final WorkerService service;
  public final SleepableEngine engine;
  public final Planes planes = new Planes();
  public final Adapters adapters;
  public final ModelControls controls;
  private final Map<EndpointId, EndpointHandler<?, ?>> handlers = new HashMap<>();
  private final LocalEventPlane events =
      new LocalEventPlane(1000, 1 << 20, new Metrics(), new Random(1), InstantSource.system());
  private int weightsDropped;

  /** The planes that the test provides. */
  public final class Planes implements EndpointServer, Discovery {
    @Override
    public <Q, R> Served serve(
        EndpointId endpoint,
        InstanceId id,
        EndpointHandler<Q, R> handler,
        MessageCodec<Q, R> codec,
        Room room) {
      handlers.put(endpoint, handler);
      return new Served() {
        @Override
        public TransportAddress address() {
          return new TransportAddress.Tcp("127.0.0.1:1", endpoint.toString());
        }

        @Override
        public int inFlight() {
          return 0;
        }

        @Override
        public boolean drain(Deadline deadline) {
          return true;
        }

        @Override
        public void close() {
          handlers.remove(endpoint);
        }
      };
    }

    @Override
    public InstanceId instanceId() {
      return new InstanceId(7);
    }

    @Override
    public Handle register(DiscoveryRecord record) {
      records.add(record);
      return () -> records.remove(record);
    }

    @Override
    public Handle replace(DiscoveryRecord before, DiscoveryRecord now) {
      assertThat(records.remove(before)).isTrue();
      return register(now);
    }

    @Override
    public <R extends DiscoveryRecord> Handle watch(
        Class<R> kind, Consumer<DiscoveryEvent<R>> listener) {
      throw new UnsupportedOperationException("registers only");
    }

    @Override
    public void close() {}
  }

  /**
   * @param engines makes the engine, and a new one after each sleep
   * @param canaries whether silence is probed
   */
  public TestWorker(Supplier<EngineParts> engines, boolean canaries) {
    var settings =
        new StatusSettings(
            "127.0.0.1",
            -1,
            "/health",
            "/live",
            StatusSettings.Starting.NOTREADY,
            List.of(),
            true,
            true,
            canaries,
            Duration.ofSeconds(10),
            Duration.ofSeconds(3),
            true);
    status = new SystemStatus(new SystemHealth(settings, alarms, Runnable::run, alarms::nanos));
    var metrics = new Metrics();
    engine =
        new SleepableEngine(
            new SleepableEngine.Source() {
              @Override
              public EngineParts make() {
                return engines.get();
              }

              @Override
              public void forgetWeights() {
                weightsDropped++;
              }
            });
    var guard = new EngineGuard(VOCABULARY, STALL, alarms, alarms::nanos);
    var id = planes.instanceId();
    var eventPlane =
        new KvEventPublisher(
            events,
            ENDPOINT,
            id,
            2,
            KvEventCodec::encode,
            Runnable::run,
            metrics.counter(WorkerMetrics.KV_EVENTS_DROPPED),
            1000);
    adapters = new Adapters(ENDPOINT, planes, status.files(), engine, 2);
    service =
        new WorkerService(
            ENDPOINT,
            PayloadFormat.MSGPACK,
            new WorkerService.Planes(planes, planes, metrics, status),
            engine,
            new WorkerService.EngineAccess(guard, adapters::admit, HealthPayload.standard()),
            new WorkerService.Publishers(
                eventPlane,
                new KvSources(
                    eventPlane, ENDPOINT, PayloadFormat.MSGPACK, new KvQueryCodec(), Runnable::run),
                new LoadPublisher(events, ENDPOINT, id, engine, (_, _) -> () -> {}),
                new PrefillMarks(
                    events,
                    ENDPOINT,
                    id,
                    2,
                    Runnable::run,
                    metrics.counter(WorkerMetrics.PREFILL_MARKS_DROPPED)),
                new ForwardPasses(
                    events,
                    ENDPOINT,
                    id,
                    2,
                    to ->
                        engine.reportPassesTo(
                            (rank, pass) -> {
                              guard.passed(rank);
                              to.passed(rank, pass);
                            }),
                    (_, _) -> () -> {},
                    Runnable::run,
                    metrics.counter(WorkerMetrics.FORWARD_PASSES_DROPPED))),
            new GenerateCodec(),
            limits ->
                adapters.on(TestCards.card("m", limits.contextLength(), limits.blockTokens())),
            new Drain.Plan(Duration.ofSeconds(5), () -> false));
    controls = new ModelControls("m", service, engine, adapters);
  }

  public TestWorker started() {
    service.start();
    return this;
  }

  /** Whether the worker's instance is in discovery. */
  public boolean isFound() {
    return records.stream()
        .anyMatch(record -> record instanceof Instance it && it.endpoint().equals(ENDPOINT));
  }

  /** Returns the model cards that are in discovery. */
  public List<ModelRecord> cards() {
    return records.stream()
        .filter(ModelRecord.class::isInstance)
        .map(ModelRecord.class::cast)
        .toList();
  }

  public int weightsDropped() {
    return weightsDropped;
  }

  /** Sends a request as a requester that knows the address does. */
  public Collected generate(GenerateRequest request) {
    return Collected.all(publisher(request));
  }

  /** Returns the answer, not yet subscribed to. */
  @SuppressWarnings("unchecked") // the endpoint determines the types
  public Flow.Publisher<EngineOutput> publisher(GenerateRequest request) {
    var handler = (EndpointHandler<GenerateRequest, EngineOutput>) handlers.get(ENDPOINT);
    if (handler == null) {
      throw new AssertionError("nothing is served");
    }
    return handler.handle(request, Requests.context());
  }

  /** Returns the handler that is served under {@code name} beside the model. */
  public EndpointHandler<?, ?> served(String name) {
    var handler = handlers.get(new EndpointId(ENDPOINT.namespace(), ENDPOINT.component(), name));
    if (handler == null) {
      throw new AssertionError(name + " is not served");
    }
    return handler;
  }

  @Override
  public void close() {
    adapters.close();
    service.close();
    events.close();
  }
}
