package io.dynamo.runtime.wiring;

import io.dynamo.config.Role;
import io.dynamo.config.Settings;
import io.dynamo.config.memory.HeapShare;
import io.dynamo.config.plane.RequestPlane;
import io.dynamo.inference.EngineOutput;
import io.dynamo.inference.GenerateRequest;
import io.dynamo.pipeline.EventLoops;
import io.dynamo.request.nats.NatsCarrier;
import io.dynamo.request.tcp.RequestCarrier;
import io.dynamo.request.tcp.TcpEndpointClient;
import io.dynamo.request.tcp.TcpEndpointServer;
import io.dynamo.runtime.ClosingStack;
import io.dynamo.runtime.status.StatusServer;
import io.dynamo.runtime.wiring.PlaneFactory.Outlets;
import io.dynamo.transfer.jni.HostMemorySelection;
import io.dynamo.wire.MessageCodec;
import io.dynamo.wire.generate.GenerateCodec;
import jakarta.enterprise.context.ApplicationScoped;
import jakarta.enterprise.inject.Produces;
import jakarta.inject.Singleton;
import java.net.InetAddress;
import java.time.Duration;
import org.jspecify.annotations.Nullable;

/**
 * Provides the implementations of the planes: TCP for requests, native memory where it is
 * available.
 */
@ApplicationScoped
public class PlaneProducer {
  // a close sends every peer its last messages, then waits for the sockets
  private static final Duration SERVER_PATIENCE = Duration.ofSeconds(8);
  // Netty's own helper thread ends only after a quiet second
  private static final Duration LOOPS_PATIENCE = Duration.ofSeconds(12);

  @Produces
  @Singleton
  PlaneFactory planes() {
    return PlaneProducer::open;
  }

  /** Returns the codec of generate endpoints. */
  @Produces
  @Singleton
  public MessageCodec<GenerateRequest, EngineOutput> generateCodec() {
    return new GenerateCodec();
  }

  private static PlaneFactory.Planes open(Settings settings, Outlets outlets, ClosingStack opened) {
    var metrics = outlets.metrics();
    var memory =
        opened.push(
            "memory", HostMemorySelection.open(settings.server().nativeExtractDirs()).memory());
    opened.push("helper thread", LOOPS_PATIENCE, EventLoops::awaitHelperThread);
    var loops =
        opened.push(
            "event loops",
            LOOPS_PATIENCE,
            new EventLoops(Runtime.getRuntime().availableProcessors()));
    var carrier = carrier(settings, outlets, opened);
    var client =
        opened.push(
            "request client",
            new TcpEndpointClient(
                settings.tcp(),
                settings.request().planes(),
                carrier,
                loops,
                metrics,
                System::nanoTime));
    var server =
        opened.push(
            "request server",
            SERVER_PATIENCE,
            new TcpEndpointServer(
                settings.tcp(),
                settings.request(),
                settings.request().has(RequestPlane.NATS) ? carrier : null,
                HeapShare.receivedRequests(settings.server().roles().contains(Role.FRONTEND)),
                loops,
                metrics));
    if (settings.status().isOn()) {
      opened.push(
          "status server",
          SERVER_PATIENCE,
          new StatusServer(
              settings.status(),
              loops,
              InetAddress.ofLiteral(settings.tcp().host()),
              outlets.status(),
              settings.server().admin().names(),
              outlets.text()::write));
    }
    var exchange =
        opened.push(
            "exchange of regions",
            SERVER_PATIENCE,
            RegionExchanges.open(settings.tcp(), settings.transfer(), loops, memory, metrics));
    return new PlaneFactory.Planes(loops, client, server, memory, exchange);
  }

  private static @Nullable RequestCarrier carrier(
      Settings settings, Outlets outlets, ClosingStack opened) {
    var link = outlets.nats();
    return link == null
        ? null
        : opened.push(
            "requests over NATS",
            new NatsCarrier(link, settings.tcp().timeouts().acknowledgement()));
  }
}
