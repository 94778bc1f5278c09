package io.dynamo.request.load;

import io.dynamo.concurrent.Alarms;
import io.dynamo.config.plane.NatsSettings;
import io.dynamo.config.plane.RequestPlane;
import io.dynamo.config.plane.RequestSettings;
import io.dynamo.metrics.Metrics;
import io.dynamo.nats.NatsLink;
import io.dynamo.pipeline.EventLoops;
import io.dynamo.request.nats.NatsCarrier;
import io.dynamo.request.tcp.TcpEndpointClient;
import io.dynamo.request.tcp.TcpEndpointServer;
import java.net.URI;
import java.time.Duration;
import java.util.ArrayDeque;
import java.util.ArrayList;
import java.util.Deque;
import java.util.List;
import java.util.Locale;
import java.util.concurrent.Executors;
import java.util.concurrent.ScheduledExecutorService;
import org.jspecify.annotations.Nullable;

/** Servers and clients of one request plane each, side by side in one process. */
final class BenchPlane implements AutoCloseable {
  private final EventLoops loops = new EventLoops(0);
  private final ScheduledExecutorService timer =
      Executors.newSingleThreadScheduledExecutor(Thread.ofPlatform().daemon().factory());
  private final Deque<Runnable> opened = new ArrayDeque<>();
  private final @Nullable NatsCarrier carrier;

  /**
   * @param nats address of a server; empty measures without NATS
   */
  BenchPlane(String nats) {
    carrier = nats.isEmpty() ? null : carrier(nats);
  }

  private NatsCarrier carrier(String nats) {
    var settings =
        new NatsSettings(
            List.of(URI.create(nats)),
            new NatsSettings.NatsIdentity.User("user", "user"),
            new NatsSettings.NatsTlsSettings(null, false, null, null),
            Duration.ofSeconds(10),
            null);
    var link = NatsLink.open(settings, Alarms.on(timer));
    opened.push(link::close);
    var carrying = new NatsCarrier(link, OurPlane.PATIENCE);
    opened.push(carrying::close);
    return carrying;
  }

  /** The planes that can be measured. */
  List<RequestPlane> planes() {
    var planes = new ArrayList<>(List.of(RequestPlane.TCP, RequestPlane.HTTP2));
    if (carrier != null) {
      planes.add(RequestPlane.NATS);
    }
    return planes;
  }

  static String name(RequestPlane plane) {
    return plane.name().toLowerCase(Locale.ROOT);
  }

  TcpEndpointServer server(RequestPlane plane) {
    var http2 = new RequestSettings.Http2Settings("127.0.0.1", 0, "/v1/rpc");
    var server =
        new TcpEndpointServer(
            OurPlane.settings(),
            new RequestSettings(List.of(plane), http2),
            plane == RequestPlane.NATS ? carrier : null,
            1L << 28,
            loops,
            new Metrics());
    opened.push(server::close);
    return server;
  }

  TcpEndpointClient client(RequestPlane plane) {
    var client =
        new TcpEndpointClient(
            OurPlane.settings(),
            List.of(plane),
            plane == RequestPlane.NATS ? carrier : null,
            loops,
            new Metrics(),
            System::nanoTime);
    opened.push(client::close);
    return client;
  }

  @Override
  public void close() {
    opened.forEach(Runnable::run);
    loops.close();
    timer.shutdownNow();
  }
}
