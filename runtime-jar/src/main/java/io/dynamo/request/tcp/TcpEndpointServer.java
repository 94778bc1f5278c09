package io.dynamo.request.tcp;

import io.dynamo.concurrent.Deadline;
import io.dynamo.config.memory.HeapShare;
import io.dynamo.config.plane.AdmissionSettings;
import io.dynamo.config.plane.RequestPlane;
import io.dynamo.config.plane.RequestSettings;
import io.dynamo.config.plane.TcpSettings;
import io.dynamo.discovery.EndpointId;
import io.dynamo.discovery.InstanceId;
import io.dynamo.discovery.TransportAddress;
import io.dynamo.metrics.Metrics;
import io.dynamo.metrics.TransportMetrics;
import io.dynamo.pipeline.CallHomeClient;
import io.dynamo.pipeline.ConnectionLimit;
import io.dynamo.pipeline.EventLoops;
import io.dynamo.request.BidirectionalHandler;
import io.dynamo.request.BidirectionalServer;
import io.dynamo.request.EndpointHandler;
import io.dynamo.request.EndpointServer;
import io.dynamo.wire.MessageCodec;
import io.netty.channel.Channel;
import io.netty.channel.ChannelInitializer;
import io.netty.channel.group.ChannelGroup;
import io.netty.channel.group.DefaultChannelGroup;
import io.netty.util.concurrent.GlobalEventExecutor;
import java.net.InetSocketAddress;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.concurrent.ConcurrentHashMap;
import java.util.concurrent.Semaphore;
import org.jspecify.annotations.Nullable;

/**
 * Serves endpoints on the request planes of its settings: one listener each for all endpoints,
 * bound with the first. Safe for concurrent use.
 */
public final class TcpEndpointServer implements EndpointServer, BidirectionalServer {
  private static final Duration FIN_TIMEOUT = Duration.ofSeconds(10);
  private static final Duration LAST_WORDS = Duration.ofSeconds(2);
  private static final long CLOSE_MILLIS = 2_000;

  /**
   * Requesters that get an error stream for an unreadable request at a time; others get a plain
   * refusal.
   */
  private static final int MAX_REFUSALS = 64;

  /**
   * The admission limits of an endpoint with room of its own. Its handlers answer at once or refuse
   * long before these limits.
   */
  private static final AdmissionSettings OWN_ROOM = new AdmissionSettings(256, 0);

  final TcpSettings settings;
  final CallHomeClient callHome;
  final Semaphore refusals = new Semaphore(MAX_REFUSALS);
  final PlaneTls.OfBothPlanes tls;

  /** The budget of bytes of incomplete frames, of all connections. */
  final ByteBudget arriving;

  final Metrics.Counter refusedArrivals;

  /** The budget of heap bytes for requests that are being served or wait. */
  private final ByteBudget received;

  private final Admission engine;
  private final RequestSettings request;
  private final @Nullable RequestCarrier carrier;
  private final ConnectionLimit limit;
  private final EventLoops loops;
  private final Metrics metrics;
  private final ConcurrentHashMap<String, TcpEndpoint<?, ?>> endpoints = new ConcurrentHashMap<>();
  private final ChannelGroup connections =
      new DefaultChannelGroup(GlobalEventExecutor.INSTANCE, true);
  private final Object lock = new Object();
  private @Nullable Channel listener; // guarded by lock
  private @Nullable Http2Listener http2; // guarded by lock
  private boolean closed; // guarded by lock

  /**
   * For a server that also has a frontend, or for tests.
   *
   * @param loops event loops, closed by the caller after this server
   * @throws IllegalStateException when a TLS file is invalid
   */
  public TcpEndpointServer(TcpSettings settings, EventLoops loops, Metrics metrics) {
    this(settings, HeapShare.RECEIVED_REQUESTS.bytes(), loops, metrics);
  }

  private static RequestSettings onTcp(TcpSettings settings) {
    return new RequestSettings(
        List.of(RequestPlane.TCP), new RequestSettings.Http2Settings(settings.host(), 0, ""));
  }

  /**
   * @param maxReceivedBytes heap bytes for all requests being served; a single request may be
   *     larger
   * @param loops event loops, closed by the caller after this server
   * @throws IllegalStateException when a TLS file is invalid
   */
  public TcpEndpointServer(
      TcpSettings settings, long maxReceivedBytes, EventLoops loops, Metrics metrics) {
    this(settings, onTcp(settings), null, maxReceivedBytes, loops, metrics);
  }

  /**
   * @param request the planes to serve on
   * @param carrier brings the requests of NATS; null when it is not among the planes
   * @param maxReceivedBytes heap bytes for all requests being served; a single request may be
   *     larger
   * @param loops event loops, closed by the caller after this server
   * @throws IllegalStateException when a TLS file is invalid
   */
  public TcpEndpointServer(
      TcpSettings settings,
      RequestSettings request,
      @Nullable RequestCarrier carrier,
      long maxReceivedBytes,
      EventLoops loops,
      Metrics metrics) {
    this.request = request;
    this.carrier = carrier;
    this.settings = settings;
    received = new ByteBudget(maxReceivedBytes);
    arriving = new ByteBudget(maxReceivedBytes);
    refusedArrivals = metrics.counter(TransportMetrics.REJECTED);
    this.loops = loops;
    this.metrics = metrics;
    tls = PlaneTls.OfBothPlanes.of(settings.tls());
    callHome =
        new CallHomeClient(
            loops,
            tls.tcp().connecting(),
            settings.timeouts().connect(),
            FIN_TIMEOUT,
            settings.timeouts().writeStall());
    engine = new Admission(settings.admission(), received, metrics, System::nanoTime);
    limit =
        new ConnectionLimit(
            settings.maxConnections(),
            metrics.counter(TransportMetrics.CONNECTIONS_REFUSED)::increment);
  }

  /**
   * @throws IllegalStateException when the address cannot be bound, the endpoint is already served,
   *     or this server is closed
   */
  @Override
  public <Q, R> Served serve(
      EndpointId endpoint,
      InstanceId id,
      EndpointHandler<Q, R> handler,
      MessageCodec<Q, R> codec,
      Room room) {
    var admission =
        switch (room) {
          case ENGINE -> engine;
          case OWN -> Admission.unpublished(OWN_ROOM, received, metrics, System::nanoTime);
        };
    return serve(
        endpoint,
        id,
        codec,
        admission,
        (control, body) -> new OneItem<>(handler, codec, control, body));
  }

  /**
   * @throws IllegalStateException as {@link #serve}
   */
  @Override
  public <Q, R> Served serveStreams(
      EndpointId endpoint,
      InstanceId id,
      BidirectionalHandler<Q, R> handler,
      MessageCodec<Q, R> codec) {
    return serve(
        endpoint,
        id,
        codec,
        engine,
        (control, body) -> new ReceivedInput<>(handler, codec, control, body, settings));
  }

  private <Q, R> Served serve(
      EndpointId endpoint,
      InstanceId id,
      MessageCodec<Q, R> codec,
      Admission admission,
      TcpEndpoint.Service<R> service) {
    var path = id.hex() + "/" + endpoint;
    var carried = carrier == null ? null : carrier.address(endpoint, id);
    var served =
        new TcpEndpoint<>(
            this,
            path,
            TransportAddress.of(addresses(path, carried)),
            admission,
            service,
            codec,
            new EndpointMeters(metrics, endpoint, id));
    register(path, served);
    if (carrier != null && carried != null) {
      served.receiveBy(carrier.receive(carried, served::receiveCarried));
    }
    return served;
  }

  /** Returns the addresses on all planes, in order; binds their listeners. */
  private List<TransportAddress> addresses(String path, TransportAddress.@Nullable Nats carried) {
    var all = new ArrayList<TransportAddress>();
    for (var plane : request.planes()) {
      switch (plane) {
        case TCP -> all.add(new TransportAddress.Tcp(SocketAddresses.format(bound()), path));
        case NATS -> {
          if (carried != null) {
            all.add(carried);
          }
        }
        case HTTP2 -> all.add(http2().address(path));
      }
    }
    return all;
  }

  private Http2Listener http2() {
    synchronized (lock) {
      requireOpen();
      var at = http2;
      if (at == null) {
        at = new Http2Listener(this, request.http2(), settings, tls.http2(), loops, limit);
        http2 = at;
      }
      return at;
    }
  }

  private void requireOpen() { // the caller holds the lock
    if (closed) {
      throw new IllegalStateException("the endpoint server is closed");
    }
  }

  private void register(String path, TcpEndpoint<?, ?> served) {
    synchronized (lock) {
      requireOpen();
      if (endpoints.putIfAbsent(path, served) != null) {
        throw new IllegalStateException("endpoint " + path + " is served already");
      }
    }
  }

  private InetSocketAddress bound() {
    synchronized (lock) {
      requireOpen();
      var at = listener;
      if (at == null) {
        at =
            loops.listen(
                new InetSocketAddress(
                    SocketAddresses.literal(settings.host()), settings.requestPort()),
                new ChannelInitializer<>() {
                  @Override
                  protected void initChannel(Channel channel) {
                    accept(channel);
                  }
                });
        listener = at;
      }
      return (InetSocketAddress) at.localAddress();
    }
  }

  private void accept(Channel channel) {
    if (!limit.admits(channel)) {
      return;
    }
    connections.add(channel);
    channel.pipeline().addLast(new RequestReceiver(this));
    var accepting = tls.tcp().accepting();
    if (accepting != null) {
      accepting.secure(channel, null);
    }
  }

  @Nullable TcpEndpoint<?, ?> endpoint(String path) {
    return endpoints.get(path);
  }

  void forget(String path, TcpEndpoint<?, ?> served) {
    endpoints.remove(path, served);
  }

  @Override
  public void close() {
    Channel bound;
    Http2Listener boundHttp2;
    synchronized (lock) {
      if (closed) {
        return;
      }
      closed = true;
      bound = listener;
      boundHttp2 = http2;
    }
    tls.close();
    if (bound != null) {
      bound.close().awaitUninterruptibly(CLOSE_MILLIS);
    }
    if (boundHttp2 != null) {
      boundHttp2.closeListener();
    }
    var open = List.copyOf(endpoints.values());
    open.forEach(TcpEndpoint::close);
    var patience = Deadline.after(LAST_WORDS);
    try {
      for (var served : open) {
        served.drain(patience);
      }
    } catch (InterruptedException e) {
      Thread.currentThread().interrupt();
    }
    connections.close().awaitUninterruptibly(CLOSE_MILLIS);
    if (boundHttp2 != null) {
      boundHttp2.close();
    }
  }
}
