package io.dynamo.request.tcp;

import static org.assertj.core.api.Assertions.assertThat;

import io.dynamo.concurrent.Cancellation;
import io.dynamo.concurrent.Deadline;
import io.dynamo.config.plane.AdmissionSettings;
import io.dynamo.config.plane.PoolSettings;
import io.dynamo.config.plane.RequestPlane;
import io.dynamo.config.plane.RequestSettings;
import io.dynamo.config.plane.RequestSettings.Http2Settings;
import io.dynamo.config.plane.SilenceSettings;
import io.dynamo.config.plane.TcpSettings;
import io.dynamo.config.plane.TcpTimeouts;
import io.dynamo.config.plane.TlsSettings;
import io.dynamo.discovery.EndpointId;
import io.dynamo.discovery.Instance;
import io.dynamo.discovery.InstanceId;
import io.dynamo.discovery.TransportAddress;
import io.dynamo.event.Until;
import io.dynamo.inference.EngineOutput;
import io.dynamo.inference.GenerateRequest;
import io.dynamo.inference.OutputOptions;
import io.dynamo.inference.RoutingHints;
import io.dynamo.inference.SamplingOptions;
import io.dynamo.inference.StopConditions;
import io.dynamo.metrics.EndpointMetrics;
import io.dynamo.metrics.Label;
import io.dynamo.metrics.Metrics;
import io.dynamo.net.PayloadFormat;
import io.dynamo.pipeline.EventLoops;
import io.dynamo.request.EndpointHandler;
import io.dynamo.request.EndpointServer;
import io.dynamo.request.RequestContext;
import io.dynamo.wire.generate.GenerateCodec;
import java.time.Duration;
import java.util.List;
import java.util.Map;
import java.util.concurrent.Flow;
import java.util.function.LongSupplier;
import org.jspecify.annotations.Nullable;

/** A client and a server of ours on loopback. */
final class TestPlane implements AutoCloseable {
  static final EndpointId ENDPOINT = new EndpointId("dynamo", "backend", "generate");
  static final InstanceId ID = InstanceId.ofHex("ec5ccfe8392a8f5e");
  static final GenerateCodec CODEC = new GenerateCodec();
  static final Duration PATIENCE = Duration.ofSeconds(60);

  /** Shared by all tests and never closed: closing takes seconds, and its threads are daemons. */
  static final EventLoops LOOPS = new EventLoops(2);

  final Metrics metrics = new Metrics();
  final TcpSettings settings;
  final TcpEndpointClient client;
  final TcpEndpointServer server;

  /**
   * Returns the counter of failures at {@link #ENDPOINT} in a step, by Dynamo's names of the steps.
   */
  static Metrics.Counter errors(Metrics metrics, String step) {
    return metrics.counter(
        EndpointMetrics.ERRORS,
        new Label("dynamo_namespace", ENDPOINT.namespace()),
        new Label("dynamo_component", ENDPOINT.component()),
        new Label("dynamo_endpoint", ENDPOINT.name()),
        new Label("worker_id", ID.hex()),
        new Label("error_type", step));
  }

  TestPlane() {
    this(settings(PayloadFormat.MSGPACK, 1 << 20, 8));
  }

  TestPlane(TcpSettings settings) {
    this(settings, System::nanoTime);
  }

  TestPlane(TcpSettings settings, LongSupplier nanoTime) {
    this(settings, null, nanoTime);
  }

  TestPlane(TcpSettings settings, @Nullable RequestCarrier carrier, LongSupplier nanoTime) {
    this(
        settings,
        List.of(carrier == null ? RequestPlane.TCP : RequestPlane.NATS),
        carrier,
        nanoTime);
  }

  TestPlane(
      TcpSettings settings,
      List<RequestPlane> planes,
      @Nullable RequestCarrier carrier,
      LongSupplier nanoTime) {
    this.settings = settings;
    client = new TcpEndpointClient(settings, planes, carrier, LOOPS, metrics, nanoTime);
    var request = new RequestSettings(planes, new Http2Settings(settings.host(), 0, "/v1/rpc"));
    server = new TcpEndpointServer(settings, request, carrier, 1L << 30, LOOPS, metrics);
  }

  private static final TcpTimeouts TIMEOUTS =
      new TcpTimeouts(
          Duration.ofSeconds(20),
          Duration.ofSeconds(20),
          Duration.ofSeconds(20),
          Duration.ofSeconds(20),
          Duration.ZERO,
          Duration.ofSeconds(30));
  private static final SilenceSettings SILENCE =
      new SilenceSettings(
          Duration.ofSeconds(20),
          Duration.ofSeconds(20),
          Duration.ofSeconds(20),
          Duration.ZERO,
          Duration.ofSeconds(20));

  /** How long a worker that does not acknowledge is waited for, unless a test says otherwise. */
  static Duration acknowledgement() {
    return TIMEOUTS.acknowledgement();
  }

  static final TlsSettings CLEAR =
      new TlsSettings(null, null, null, false, null, Duration.ofSeconds(3), null, null, null);

  static TcpSettings settings(PayloadFormat format, int maxFrameBytes, int maxConcurrent) {
    return settings(
        format, maxFrameBytes, TIMEOUTS, new AdmissionSettings(maxConcurrent, 0), CLEAR);
  }

  static TcpSettings impatient(Duration ack, Duration callHome) {
    return patient(
        new TcpTimeouts(
            ack,
            TIMEOUTS.connect(),
            callHome,
            callHome,
            TIMEOUTS.inactivity(),
            TIMEOUTS.writeStall()));
  }

  /** With {@code connect} for a connection to be established, and as much for its turn. */
  static TcpSettings connecting(Duration connect) {
    return patient(
        new TcpTimeouts(
            TIMEOUTS.acknowledgement(),
            connect,
            TIMEOUTS.callHome(),
            TIMEOUTS.prologue(),
            TIMEOUTS.inactivity(),
            TIMEOUTS.writeStall()));
  }

  static TestPlane impatientPlane(Duration ack) {
    return new TestPlane(impatient(ack, Duration.ofSeconds(5)));
  }

  static TcpSettings patient(TcpTimeouts timeouts) {
    return settings(PayloadFormat.MSGPACK, 1 << 20, timeouts, new AdmissionSettings(8, 0), CLEAR);
  }

  /** With {@code pool} in place of two connections to each worker. */
  static TcpSettings pooling(PoolSettings pool) {
    var others = patient(TIMEOUTS);
    return new TcpSettings(
        others.host(),
        others.responseHost(),
        others.requestPort(),
        others.responsePort(),
        others.maxFrameBytes(),
        others.maxUnsentBytes(),
        others.maxConnections(),
        pool,
        others.streamBuffer(),
        others.format(),
        TIMEOUTS,
        others.silence(),
        others.admission(),
        others.tls());
  }

  /** With {@code silence} in place of what lasts longer than a test. */
  static TcpSettings watching(TcpTimeouts timeouts, SilenceSettings silence) {
    var others = patient(timeouts);
    return new TcpSettings(
        others.host(),
        others.responseHost(),
        others.requestPort(),
        others.responsePort(),
        others.maxFrameBytes(),
        others.maxUnsentBytes(),
        others.maxConnections(),
        others.pool(),
        others.streamBuffer(),
        others.format(),
        timeouts,
        silence,
        others.admission(),
        others.tls());
  }

  static TcpSettings admitting(int running, int waiting) {
    return settings(
        PayloadFormat.MSGPACK, 1 << 20, TIMEOUTS, new AdmissionSettings(running, waiting), CLEAR);
  }

  static TcpSettings secured(TlsSettings tls) {
    return settings(PayloadFormat.MSGPACK, 1 << 20, TIMEOUTS, new AdmissionSettings(8, 0), tls);
  }

  private static TcpSettings settings(
      PayloadFormat format,
      int maxFrameBytes,
      TcpTimeouts timeouts,
      AdmissionSettings admission,
      TlsSettings tls) {
    return bounded(1 << 24, 2, 10_000, maxFrameBytes, format, timeouts, admission, tls);
  }

  /** Large requests, of which {@code maxUnsentBytes} may wait. */
  static TcpSettings bounded(int maxUnsentBytes, int maxConnections) {
    return bounded(maxUnsentBytes, 2, maxConnections);
  }

  /** The same with one connection to each worker, on which requests follow each other. */
  static TcpSettings ofOneConnection() {
    return bounded(1 << 24, 1, 100);
  }

  private static TcpSettings bounded(int maxUnsentBytes, int poolSize, int maxConnections) {
    return bounded(
        maxUnsentBytes,
        poolSize,
        maxConnections,
        1 << 25,
        PayloadFormat.MSGPACK,
        TIMEOUTS,
        new AdmissionSettings(8, 0),
        CLEAR);
  }

  private static TcpSettings bounded(
      int maxUnsentBytes,
      int poolSize,
      int maxConnections,
      int maxFrameBytes,
      PayloadFormat format,
      TcpTimeouts timeouts,
      AdmissionSettings admission,
      TlsSettings tls) {
    return new TcpSettings(
        "127.0.0.1",
        "127.0.0.1",
        0,
        0,
        maxFrameBytes,
        maxUnsentBytes,
        maxConnections,
        new PoolSettings(poolSize, Duration.ofMinutes(5), 64, false),
        64,
        format,
        timeouts,
        SILENCE,
        admission,
        tls);
  }

  EndpointServer.Served serve(EndpointHandler<GenerateRequest, EngineOutput> handler) {
    return server.serve(ENDPOINT, ID, handler, CODEC);
  }

  /** Where the worker of a TCP plane listens. */
  static String tcpAddress(EndpointServer.Served served) {
    return ((TransportAddress.Tcp) served.address()).address();
  }

  Instance instance(EndpointServer.Served served) {
    return new Instance(ENDPOINT, ID, served.address(), "cpu", settings.format());
  }

  Flow.Publisher<EngineOutput> call(Instance instance, RequestContext context) {
    return client.call(instance, request(), CODEC, context);
  }

  Flow.Publisher<EngineOutput> call(EndpointServer.Served served) {
    return call(instance(served), context());
  }

  static RequestContext context() {
    return context(new Cancellation());
  }

  static RequestContext context(Cancellation cancellation) {
    return new RequestContext(
        "ccb713c5-1392-4150-a3a3-9546dc2b4b0f",
        Map.of("tenant", "blue"),
        Map.of("traceparent", "00-d363d829197e1fafa06b08ceac49bd4f-7e07cf3261603546-01"),
        Deadline.after(Duration.ofMinutes(2)),
        cancellation);
  }

  static GenerateRequest request() {
    return request(new int[] {2, 3016, 203});
  }

  static GenerateRequest request(int[] tokenIds) {
    return new GenerateRequest(
        "tiny",
        tokenIds,
        new StopConditions(4, List.of(), List.of(3), null, false),
        SamplingOptions.DEFAULTS,
        OutputOptions.DEFAULTS,
        new int[] {3},
        null,
        List.of(),
        RoutingHints.NONE,
        Map.of());
  }

  /** Waits until the client has nothing left of its calls, a moment after they have ended. */
  void awaitNothingLeft() {
    Until.holds(
        () ->
            client.inFlight() == 0
                && client.callHome.waiting() == 0
                && client.pool.budget.taken() == 0);
  }

  /**
   * Waits until every request is acknowledged, which comes on another connection than its answer:
   * the next one finds a connection without a request.
   */
  void awaitAcknowledged() {
    Until.holds(() -> client.pool.load() == 0);
  }

  /** Waits until {@code counter}, which follows what it counts, has exactly this value. */
  static void awaitCount(Metrics.Counter counter, long count) {
    Until.holds(() -> counter.value() >= count);
    assertThat(counter.value()).isEqualTo(count);
  }

  @Override
  public void close() {
    client.close();
    server.close();
  }
}
