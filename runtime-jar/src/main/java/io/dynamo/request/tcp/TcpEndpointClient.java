package io.dynamo.request.tcp;

import io.dynamo.config.plane.RequestPlane;
import io.dynamo.config.plane.TcpSettings;
import io.dynamo.discovery.Instance;
import io.dynamo.discovery.TransportAddress;
import io.dynamo.error.CancelledException;
import io.dynamo.error.DynamoException;
import io.dynamo.error.ErrorCode;
import io.dynamo.error.WorkerLostException;
import io.dynamo.metrics.Metrics;
import io.dynamo.metrics.TransportMetrics;
import io.dynamo.pipeline.CallHomeServer;
import io.dynamo.pipeline.ConnectionLimit;
import io.dynamo.pipeline.EventLoops;
import io.dynamo.pipeline.StreamLimits;
import io.dynamo.pipeline.StreamListener;
import io.dynamo.request.BidirectionalClient;
import io.dynamo.request.EndpointClient;
import io.dynamo.request.RequestContext;
import io.dynamo.request.tcp.silence.SilenceRules;
import io.dynamo.wire.MessageCodec;
import java.net.InetSocketAddress;
import java.time.Duration;
import java.util.List;
import java.util.Set;
import java.util.concurrent.ConcurrentHashMap;
import java.util.concurrent.Flow;
import java.util.function.LongSupplier;
import org.jspecify.annotations.Nullable;

/** Calls endpoints over TCP. Safe for concurrent use; never blocks its caller. */
public final class TcpEndpointClient implements EndpointClient, BidirectionalClient {
  private static final Duration HANDSHAKE_TIMEOUT = Duration.ofSeconds(10);

  final TcpSettings settings;
  final EventLoops loops;
  final PlaneMeters meters;
  final CallHomeServer callHome;
  final ConnectionPool pool;
  final String callHomeAddress;
  final SilenceWatch silence;
  private final Set<TcpCall<?, ?>> calls = ConcurrentHashMap.newKeySet();
  private final LostInstances lost;
  private final @Nullable RequestCarrier carrier;
  private final PlaneTls.OfBothPlanes tls;
  private final Http2Calls http2;
  private final PlaneChoice choice;
  private final SilenceRules rules;
  private final SilenceRules exchangeRules;
  private volatile boolean closed;

  /**
   * Binds the call-home listener.
   *
   * @param loops event loops, closed by the caller after this client
   * @throws IllegalStateException when the listener cannot be bound, or a TLS file is invalid
   */
  public TcpEndpointClient(TcpSettings settings, EventLoops loops, Metrics metrics) {
    this(settings, List.of(RequestPlane.TCP), null, loops, metrics, System::nanoTime);
  }

  /**
   * Binds the call-home listener.
   *
   * @param planes those to prefer for instances of several planes, in order
   * @param carrier reaches workers that do not listen themselves; null when there is none
   * @param loops event loops, closed by the caller after this client
   * @throws IllegalStateException when the listener cannot be bound, or a TLS file is invalid
   */
  public TcpEndpointClient(
      TcpSettings settings,
      List<RequestPlane> planes,
      @Nullable RequestCarrier carrier,
      EventLoops loops,
      Metrics metrics,
      LongSupplier nanoTime) {
    this.carrier = carrier;
    choice = new PlaneChoice(planes);
    lost = new LostInstances(nanoTime);
    this.settings = settings;
    this.loops = loops;
    meters = PlaneMeters.of(metrics);
    tls = PlaneTls.OfBothPlanes.of(settings.tls());
    try {
      callHome = listen(metrics.counter(TransportMetrics.CONNECTIONS_REFUSED));
    } catch (RuntimeException e) {
      tls.close();
      throw e;
    }
    callHomeAddress = SocketAddresses.format(callHome.address());
    pool = new ConnectionPool(settings, tls.tcp().connecting(), loops, meters, nanoTime);
    http2 = new Http2Calls(settings, tls.http2(), loops, pool.budget, meters);
    silence = new SilenceWatch(calls, settings, this::send, loops.next(), nanoTime);
    rules = SilenceRules.of(settings.silence());
    exchangeRules = SilenceRules.ofExchanges(settings.silence(), settings.timeouts().inactivity());
  }

  private CallHomeServer listen(Metrics.Counter refused) {
    return new CallHomeServer(
        loops,
        tls.tcp().accepting(),
        new InetSocketAddress(
            SocketAddresses.literal(settings.responseHost()), settings.responsePort()),
        new ConnectionLimit(settings.maxConnections(), refused::increment),
        new StreamLimits(settings.maxFrameBytes(), HANDSHAKE_TIMEOUT, Duration.ZERO));
  }

  @Override
  public <Q, R> Flow.Publisher<R> call(
      Instance instance, Q request, MessageCodec<Q, R> codec, RequestContext context) {
    return new TcpCall<>(
        this, choice.choose(instance), RequestInput.whole(request, codec), codec, context, rules);
  }

  @Override
  public <Q, R> Flow.Publisher<R> exchange(
      Instance instance,
      Flow.Publisher<Q> requests,
      MessageCodec<Q, R> codec,
      RequestContext context) {
    var items = new SentItems<>(requests, codec, instance.format(), settings, context.id());
    return new TcpCall<>(this, choice.choose(instance), items, codec, context, exchangeRules);
  }

  @Override
  public void instanceLost(Instance instance) {
    lost.add(instance); // before the scan, so that no call misses the loss
    for (var call : calls) {
      if (call.instance().key().equals(instance.key())) {
        call.silence().leftDiscovery(true);
        call.failUnlessCalledHome(lostError(instance));
      }
    }
    silence.forget(instance);
  }

  @Override
  public void instanceFound(Instance instance) {
    lost.remove(instance);
    for (var call : calls) {
      if (call.instance().key().equals(instance.key())) {
        call.silence().leftDiscovery(false);
      }
    }
    if (settings.pool().warmUp()
        && choice.choose(instance).transport() instanceof TransportAddress.Tcp tcp) {
      warm(tcp);
    }
  }

  /** Opens a connection; an address that is none fails the request that is sent there. */
  private void warm(TransportAddress.Tcp worker) {
    InetSocketAddress address;
    try {
      address = OutgoingRequest.address(worker);
    } catch (WorkerLostException _) {
      return;
    }
    pool.warm(address);
  }

  /** Sends a request whose answer nobody reads. */
  private void send(OutgoingRequest request, RequestConnection.Outcome outcome) {
    send(request, null, outcome);
  }

  /**
   * Sends a request on a pooled connection, or by the carrier.
   *
   * @param answer receives the answer where it comes on the stream of the request
   */
  void send(
      OutgoingRequest request, @Nullable StreamListener answer, RequestConnection.Outcome outcome) {
    switch (request.to()) {
      case TransportAddress.Tcp tcp ->
          pool.send(OutgoingRequest.address(tcp), request.frame(), outcome);
      case TransportAddress.Nats nats -> carry(nats, request, outcome);
      case TransportAddress.Http2 http -> {
        if (!http2.send(http, request, answer, outcome)) {
          outcome.failed(pool.tooMuchUnsent());
        }
      }
      case TransportAddress.Several several -> throw several.unchosen();
    }
  }

  private void carry(
      TransportAddress.Nats to, OutgoingRequest request, RequestConnection.Outcome outcome) {
    if (carrier == null) {
      outcome.failed(
          new WorkerLostException(
              ErrorCode.CANNOT_CONNECT,
              "worker %s is reached over NATS, which this process does not use; set dynamo.request.plane=nats"
                  .formatted(to.subject())));
      return;
    }
    var frame = request.frame();
    if (!pool.budget.take(frame.length())) {
      outcome.failed(pool.tooMuchUnsent());
      return;
    }
    carrier.send(
        to,
        request.headers(),
        frame.payload(),
        new RequestCarrier.Outcome() {
          @Override
          public void acknowledged(String text) {
            pool.budget.give(frame.length());
            loops
                .next()
                .execute(
                    () -> {
                      if (text.isEmpty()) {
                        outcome.acknowledged();
                      } else {
                        outcome.refused(Acks.failure(text));
                      }
                    });
          }

          @Override
          public void failed(DynamoException cause) {
            pool.budget.give(frame.length());
            loops.next().execute(() -> outcome.failed(cause));
          }
        });
  }

  /** Returns the number of requests whose answer has not ended. */
  public int inFlight() {
    return calls.size();
  }

  /** Returns the number of open request connections, to all workers. */
  int connections() {
    return pool.size() + http2.connections();
  }

  /** Returns the number of open HTTP/2 connections, to all workers. */
  int http2Connections() {
    return http2.connections();
  }

  void opened(TcpCall<?, ?> call) {
    calls.add(call);
    meters.inFlight().add(1);
    if (closed) {
      call.fail(closedError());
    } else if (lost.contains(call.instance())) {
      call.fail(lostError(call.instance()));
    } else {
      silence.callBegan();
    }
  }

  void ended(TcpCall<?, ?> call) {
    if (calls.remove(call)) {
      meters.inFlight().add(-1);
    }
  }

  private static WorkerLostException lostError(Instance instance) {
    return new WorkerLostException(
        ErrorCode.DISCONNECTED,
        "instance %s left discovery before it answered".formatted(instance.id()));
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
    silence.close();
    pool.close(closedError());
    http2.close();
    callHome.close();
    tls.close();
  }
}
