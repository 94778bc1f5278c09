package io.dynamo.worker;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import io.dynamo.concurrent.Deadline;
import io.dynamo.concurrent.ItemStream;
import io.dynamo.config.watch.StatusSettings;
import io.dynamo.discovery.Discovery;
import io.dynamo.discovery.DiscoveryEvent;
import io.dynamo.discovery.DiscoveryRecord;
import io.dynamo.discovery.EndpointId;
import io.dynamo.discovery.InstanceId;
import io.dynamo.discovery.TransportAddress;
import io.dynamo.error.ErrorCode;
import io.dynamo.error.InvalidRequestException;
import io.dynamo.error.WorkerLostException;
import io.dynamo.inference.EngineOutput;
import io.dynamo.inference.GenerateRequest;
import io.dynamo.inference.RoutingHints;
import io.dynamo.metrics.Metrics;
import io.dynamo.metrics.PrometheusText;
import io.dynamo.metrics.WorkerMetrics;
import io.dynamo.net.PayloadFormat;
import io.dynamo.request.EndpointHandler;
import io.dynamo.request.EndpointServer;
import io.dynamo.request.RequestContext;
import io.dynamo.runtime.health.SystemHealth;
import io.dynamo.runtime.status.SystemStatus;
import io.dynamo.wire.MessageCodec;
import io.dynamo.wire.kv.KvQueryCodec;
import io.dynamo.worker.engine.Collected;
import io.dynamo.worker.engine.Engine;
import io.dynamo.worker.engine.EngineDescription;
import io.dynamo.worker.engine.EngineParts;
import io.dynamo.worker.engine.KvEventSink;
import io.dynamo.worker.engine.LoadReport;
import io.dynamo.worker.engine.RankLoad;
import io.dynamo.worker.engine.Requests;
import io.dynamo.worker.engine.SleepableEngine;
import io.dynamo.worker.kv.KvEventPublisher;
import io.dynamo.worker.kv.KvSources;
import io.dynamo.worker.load.ForwardPasses;
import io.dynamo.worker.load.LoadPublisher;
import io.dynamo.worker.load.PrefillMarks;
import io.dynamo.worker.serve.Drain;
import io.dynamo.worker.serve.EngineGuard;
import io.dynamo.worker.serve.HealthPayload;
import java.lang.reflect.Proxy;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.concurrent.Flow;
import java.util.function.Consumer;
import java.util.function.UnaryOperator;
import org.jspecify.annotations.Nullable;
import org.junit.jupiter.api.Test;

class WorkerServiceTest {
  private static final EndpointId ENDPOINT = new EndpointId("n", "c", "e");

  private final List<String> log = new ArrayList<>();
  private final Metrics metrics = new Metrics();
  private final FakeEngine engine = new FakeEngine();
  private final SleepableEngine.Source source =
      new SleepableEngine.Source() {
        @Override
        public EngineParts make() {
          return new EngineParts(engine, NO_LOAD, _ -> {});
        }

        @Override
        public void forgetWeights() {
          log.add("weights dropped");
        }
      };
  private final FakeServer server = new FakeServer();
  private final HandAlarms alarms = new HandAlarms();
  private final HandAlarms loadAlarms = new HandAlarms();
  private SystemStatus status = status(false, true);
  private boolean drains = true;
  private boolean refusesInstance;
  private boolean successors;

  private static final LoadReport NO_LOAD =
      new LoadReport() {
        @Override
        public List<RankLoad> ranks() {
          return List.of();
        }

        @Override
        public long cancelled() {
          return 0;
        }

        @Override
        public long lastCancelNanos() {
          return 0;
        }
      };

  /** An engine with one stream at a time, moved by the test. */
  private final class FakeEngine implements Engine {
    ItemStream<EngineOutput> stream = new ItemStream<>(8, () -> {}, () -> {});

    @Override
    public EngineDescription start(KvEventSink events) {
      log.add("engine started");
      return new EngineDescription(100, 4, 10, 2, 3);
    }

    @Override
    public Flow.Publisher<EngineOutput> generate(GenerateRequest request, RequestContext context) {
      return stream;
    }

    @Override
    public int running() {
      return 0;
    }

    @Override
    public void close() {
      log.add("engine closed");
      stream.fail(new WorkerLostException(ErrorCode.BACKEND_ENGINE_SHUTDOWN, "closed"));
    }
  }

  private final class FakeServer implements EndpointServer {
    @Nullable EndpointHandler<GenerateRequest, EngineOutput> handler;

    @Override
    @SuppressWarnings("unchecked") // the endpoint determines the types
    public <Q, R> Served serve(
        EndpointId endpoint,
        InstanceId id,
        EndpointHandler<Q, R> with,
        MessageCodec<Q, R> codec,
        Room room) {
      boolean generates = endpoint.equals(ENDPOINT);
      var what = generates ? "" : " " + endpoint.name().replace("worker_kv_query_source_", "?");
      log.add("served" + what);
      assertThat(room).isEqualTo(generates ? Room.ENGINE : Room.OWN);
      if (generates) {
        handler = (EndpointHandler<GenerateRequest, EngineOutput>) (EndpointHandler<?, ?>) with;
      }
      return new Served() {
        @Override
        public TransportAddress address() {
          return new TransportAddress.Tcp("127.0.0.1:1", "p");
        }

        @Override
        public int inFlight() {
          return 0;
        }

        @Override
        public boolean drain(Deadline deadline) {
          log.add("drained");
          return drains;
        }

        @Override
        public void close() {
          log.add("unserved" + what);
        }
      };
    }

    @Override
    public void close() {}
  }

  private final class FakeDiscovery implements Discovery {
    @Override
    public InstanceId instanceId() {
      return new InstanceId(7);
    }

    @Override
    public Handle register(DiscoveryRecord record) {
      if (refusesInstance && record.bucket().equals("v1/instances")) {
        throw new IllegalStateException("refused");
      }
      log.add("+" + record.bucket());
      return () -> log.add("-" + record.bucket());
    }

    @Override
    public Handle replace(DiscoveryRecord before, DiscoveryRecord now) {
      log.add("=" + now.bucket());
      return () -> log.add("-" + now.bucket());
    }

    @Override
    public <R extends DiscoveryRecord> Handle watch(
        Class<R> kind, Consumer<DiscoveryEvent<R>> listener) {
      throw new UnsupportedOperationException("registers only");
    }

    @Override
    public void close() {}
  }

  @SuppressWarnings("unchecked") // never called: the fake server has no bytes
  private static final MessageCodec<GenerateRequest, EngineOutput> NO_BYTES =
      (MessageCodec<GenerateRequest, EngineOutput>)
          Proxy.newProxyInstance(
              WorkerServiceTest.class.getClassLoader(),
              new Class<?>[] {MessageCodec.class},
              (proxy, method, arguments) -> {
                throw new UnsupportedOperationException(method.getName());
              });

  private WorkerService service() {
    var events =
        new KvEventPublisher(
            new SentPlane(0xa),
            ENDPOINT,
            new InstanceId(7),
            2,
            batch -> new byte[0],
            Runnable::run,
            metrics.counter(WorkerMetrics.KV_EVENTS_DROPPED),
            1000);
    var sources =
        new KvSources(events, ENDPOINT, PayloadFormat.MSGPACK, new KvQueryCodec(), Runnable::run);
    var loads =
        new LoadPublisher(new SentPlane(0xa), ENDPOINT, new InstanceId(7), NO_LOAD, loadAlarms);
    var marks =
        new PrefillMarks(
            new SentPlane(0xa),
            ENDPOINT,
            new InstanceId(7),
            2,
            Runnable::run,
            metrics.counter(WorkerMetrics.PREFILL_MARKS_DROPPED));
    var passes =
        new ForwardPasses(
            new SentPlane(0xa),
            ENDPOINT,
            new InstanceId(7),
            2,
            _ -> {},
            loadAlarms,
            Runnable::run,
            metrics.counter(WorkerMetrics.FORWARD_PASSES_DROPPED));
    return new WorkerService(
        ENDPOINT,
        PayloadFormat.MSGPACK,
        new WorkerService.Planes(new FakeDiscovery(), server, metrics, status),
        new SleepableEngine(source),
        new WorkerService.EngineAccess(
            new EngineGuard(1000, Duration.ofSeconds(30), alarms, alarms::nanos),
            UnaryOperator.identity(),
            HealthPayload.standard()),
        new WorkerService.Publishers(events, sources, loads, marks, passes),
        NO_BYTES,
        description -> TestCards.card("m", description.contextLength(), description.blockTokens()),
        new Drain.Plan(Duration.ofSeconds(5), () -> successors));
  }

  @Test
  void isFoundOnlyWhenItCanServe() {
    var service = service();
    service.start();
    assertThat(log)
        .containsExactly(
            "engine started",
            "served",
            "+v1/mdc",
            "+v1/instances",
            "served ?a",
            "+v1/instances",
            "+v1/event_sources",
            "served ?b",
            "+v1/instances",
            "+v1/event_sources");
    assertThat(service.state()).isEqualTo(WorkerService.State.SERVING);
  }

  @Test
  void drainLeavesDiscoveryBeforeItWaits() throws Exception {
    var service = service();
    service.start();
    log.clear();
    assertThat(service.drain(Deadline.after(Duration.ofSeconds(1)))).isTrue();
    assertThat(log)
        .containsExactly(
            "-v1/instances",
            "-v1/mdc",
            "-v1/event_sources",
            "-v1/instances",
            "-v1/event_sources",
            "-v1/instances",
            "drained",
            "engine closed",
            "unserved",
            "unserved ?a",
            "unserved ?b");
    assertThat(service.state()).isEqualTo(WorkerService.State.CLOSED);
  }

  @Test
  void streamsLeftAtTheDeadlineEndSoThatTheyMigrate() throws Exception {
    var service = service();
    service.start();
    drains = false;
    var got = generate(Requests.of(new int[] {1}, 5));
    assertThat(service.drain(Deadline.after(Duration.ZERO))).isFalse();
    assertThat(got.failure())
        .isInstanceOfSatisfying(
            WorkerLostException.class,
            lost -> assertThat(lost.code()).isEqualTo(ErrorCode.BACKEND_ENGINE_SHUTDOWN));
  }

  @Test
  void failedStartTakesEverythingBack() {
    refusesInstance = true;
    var service = service();
    assertThatThrownBy(service::start).hasMessage("refused");
    assertThat(log)
        .containsExactly(
            "engine started", "served", "+v1/mdc", "-v1/mdc", "engine closed", "unserved");
    assertThat(service.state()).isEqualTo(WorkerService.State.CLOSED);
  }

  @Test
  void closeTwiceClosesOnce() {
    var service = service();
    service.start();
    service.close();
    log.clear();
    service.close();
    assertThat(log).isEmpty();
  }

  @Test
  void anInstanceWhoseProbeFailsLeavesDiscoveryAndComesBackWithTheNextThatSucceeds() {
    status = status(true, true);
    var service = service();
    service.start();
    assertThat(service.isReady()).isFalse();
    log.clear();

    alarms.advance(Duration.ofSeconds(10));
    engine.stream.fail(new WorkerLostException(ErrorCode.BACKEND_ENGINE_SHUTDOWN, "stuck"));
    assertThat(log).containsExactly("-v1/instances");
    assertThat(service.isReady()).isFalse();
    assertThat(service.state()).isEqualTo(WorkerService.State.SERVING);

    engine.stream = new ItemStream<>(8, () -> {}, () -> {});
    alarms.advance(Duration.ofSeconds(10));
    engine.stream.offer(EngineOutput.ofTokens(1));
    assertThat(log).containsExactly("-v1/instances", "+v1/instances");
    assertThat(service.isReady()).isTrue();

    service.close();
    assertThat(status.health().report().endpoints()).isEmpty();
    assertThat(alarms.waiting()).isZero();
  }

  @Test
  void anInstanceThatDiscoveryRefusesComesBackWithALaterProbe() {
    status = status(true, true);
    service().start();
    alarms.advance(Duration.ofSeconds(13)); // silence fails the probe
    refusesInstance = true;
    engine.stream = new ItemStream<>(8, () -> {}, () -> {});
    alarms.advance(Duration.ofSeconds(10));
    engine.stream.offer(EngineOutput.ofTokens(1));
    log.clear();
    refusesInstance = false;
    engine.stream = new ItemStream<>(8, () -> {}, () -> {});
    alarms.advance(Duration.ofSeconds(10));
    engine.stream.offer(EngineOutput.ofTokens(1));
    assertThat(log).containsExactly("+v1/instances");
  }

  @Test
  void aDrainedWorkerDoesNotComeBackIntoDiscovery() throws Exception {
    status = status(true, true);
    var service = service();
    service.start();
    alarms.advance(Duration.ofSeconds(10));
    service.drain(Deadline.after(Duration.ofSeconds(1)));
    log.clear();
    alarms.advance(Duration.ofSeconds(60));
    assertThat(log).isEmpty();
    assertThat(service.isReady()).isFalse();
  }

  @Test
  void aFailedProbeCanBeLeftToHealthAlone() {
    status = status(true, false);
    var service = service();
    service.start();
    log.clear();
    alarms.advance(Duration.ofSeconds(13));
    assertThat(service.isReady()).isFalse();
    assertThat(log).isEmpty();
  }

  @Test
  void aServingWorkerIsReady() {
    var service = service();
    service.start();
    assertThat(service.isReady()).isTrue();
    assertThat(status.health().report().ready()).isTrue();
    assertThat(status.health().report().endpoints()).containsEntry("e", true);
  }

  private SystemStatus status(boolean canaries, boolean withdraw) {
    var settings =
        new StatusSettings(
            "127.0.0.1",
            -1,
            "/health",
            "/live",
            StatusSettings.Starting.NOTREADY,
            List.of(),
            true,
            false,
            canaries,
            Duration.ofSeconds(10),
            Duration.ofSeconds(3),
            withdraw);
    return new SystemStatus(new SystemHealth(settings, alarms, Runnable::run, alarms::nanos));
  }

  @Test
  void howLongItTookToBeginAndToEndIsMeasured() throws Exception {
    var text = new PrometheusText();
    metrics.attach(text);
    var service = service();
    service.start();
    assertThat(seconds(text, "model_load")).isPositive();
    assertThat(seconds(text, "drain")).isZero();
    assertThat(seconds(text, "cleanup")).isZero();
    service.drain(Deadline.after(Duration.ofSeconds(1)));
    assertThat(seconds(text, "drain")).isPositive();
    assertThat(seconds(text, "cleanup")).isPositive();
  }

  private static double seconds(PrometheusText text, String what) {
    var series = "dynamo_component_" + what + "_time_seconds{";
    var line = text.write().lines().filter(it -> it.startsWith(series)).findFirst().orElseThrow();
    return Double.parseDouble(line.substring(line.lastIndexOf(' ') + 1));
  }

  @Test
  void impossibleRequestsAreRefusedWithTheirNumbers() {
    service().start();
    assertThatThrownBy(() -> generate(Requests.of(new int[0], 5)))
        .isInstanceOf(InvalidRequestException.class);
    assertThatThrownBy(() -> generate(Requests.of(new int[60], 41)))
        .isInstanceOf(InvalidRequestException.class)
        .hasMessageContaining("60")
        .hasMessageContaining("41")
        .hasMessageContaining("100");
    assertThatThrownBy(() -> generate(Requests.of(new int[1], 1).routedTo(new RoutingHints(2))))
        .isInstanceOf(InvalidRequestException.class)
        .hasMessage("dp_rank 2 is out of bounds for dp_size 2");
  }

  private Collected generate(GenerateRequest request) {
    var handler = server.handler;
    if (handler == null) {
      throw new AssertionError("nothing is served");
    }
    return Collected.all(handler.handle(request, Requests.context()));
  }
}
