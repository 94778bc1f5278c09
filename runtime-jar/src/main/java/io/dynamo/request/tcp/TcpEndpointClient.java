package io.dynamo.request.tcp;

import io.dynamo.config.TcpSettings;
import io.dynamo.discovery.Instance;
import io.dynamo.discovery.InstanceId;
import io.dynamo.error.CancelledException;
import io.dynamo.error.ErrorCode;
import io.dynamo.error.WorkerLostException;
import io.dynamo.metrics.Metrics;
import io.dynamo.pipeline.CallHomeServer;
import io.dynamo.pipeline.EventLoops;
import io.dynamo.request.EndpointClient;
import io.dynamo.request.MessageCodec;
import io.dynamo.request.RequestContext;
import java.net.InetSocketAddress;
import java.time.Duration;
import java.util.Set;
import java.util.concurrent.ConcurrentHashMap;
import java.util.concurrent.Flow;

/** Calls endpoints over TCP. Safe for concurrent use; never blocks its caller. */
public final class TcpEndpointClient implements EndpointClient {
  private static final Duration HANDSHAKE_TIMEOUT = Duration.ofSeconds(10);

  final TcpSettings settings;
  final EventLoops loops;
  final PlaneMeters meters;
  final CallHomeServer callHome;
  final ConnectionPool pool;
  final String callHomeAddress;
  private final Set<TcpCall<?, ?>> calls = ConcurrentHashMap.newKeySet();
  private volatile boolean closed;

  /**
   * Binds the call-home listener.
   *
   * @param loops stay the caller's to close, after this
   * @throws IllegalStateException when the listener cannot be bound
   */
  public TcpEndpointClient(TcpSettings settings, EventLoops loops, Metrics metrics) {
    this.settings = settings;
    this.loops = loops;
    meters = PlaneMeters.of(metrics);
    callHome =
        new CallHomeServer(
            loops,
            new InetSocketAddress(
                SocketAddresses.literal(settings.host()), settings.responsePort()),
            settings.maxFrameBytes(),
            HANDSHAKE_TIMEOUT);
    callHomeAddress = SocketAddresses.format(callHome.address());
    pool = new ConnectionPool(settings, loops, meters);
  }

  @Override
  public <Q, R> Flow.Publisher<R> call(
      Instance instance, Q request, MessageCodec<Q, R> codec, RequestContext context) {
    return new TcpCall<>(this, instance, request, codec, context);
  }

  /**
   * Fails the requests that were sent to {@code instance} and have not been called home yet. Call
   * it when the instance leaves discovery; streams that run are left to their sockets.
   */
  public void instanceLost(InstanceId instance) {
    for (var call : calls) {
      if (call.instance().id().equals(instance)) {
        call.failUnlessCalledHome(
            new WorkerLostException(
                ErrorCode.DISCONNECTED,
                "instance %s left discovery before it answered".formatted(instance)));
      }
    }
  }

  /** Requests whose answer has not ended. */
  public int inFlight() {
    return calls.size();
  }

  /** Open request connections, to all workers. */
  int connections() {
    return pool.size();
  }

  void opened(TcpCall<?, ?> call) {
    calls.add(call);
    meters.inFlight().add(1);
    if (closed) {
      call.fail(closedError());
    }
  }

  void ended(TcpCall<?, ?> call) {
    if (calls.remove(call)) {
      meters.inFlight().add(-1);
    }
  }

  private static CancelledException closedError() {
    return new CancelledException("the endpoint client is closed");
  }

  @Override
  public void close() {
    if (closed) {
      return;
    }
    closed = true;
    calls.forEach(call -> call.fail(closedError()));
    pool.close(closedError());
    callHome.close();
  }
}
