package io.dynamo.request.tcp;

import io.dynamo.config.plane.RequestSettings.Http2Settings;
import io.dynamo.config.plane.TcpSettings;
import io.dynamo.discovery.TransportAddress;
import io.dynamo.pipeline.ConnectionLimit;
import io.dynamo.pipeline.EventLoops;
import io.dynamo.pipeline.http2.Http2Exchange;
import io.dynamo.pipeline.http2.Http2Handler;
import io.dynamo.pipeline.http2.Http2Request;
import io.dynamo.pipeline.http2.Http2Server;
import java.net.InetSocketAddress;

/**
 * The HTTP/2 listener of a worker: each endpoint has a path of its own below the root path. Safe
 * for concurrent use.
 */
final class Http2Listener implements Http2Handler, AutoCloseable {
  private final TcpEndpointServer endpoints;
  private final String prefix;
  private final boolean secure;
  private final Http2Server server;

  /**
   * Binds.
   *
   * @throws IllegalStateException when the address cannot be bound
   */
  Http2Listener(
      TcpEndpointServer endpoints,
      Http2Settings http2,
      TcpSettings settings,
      PlaneTls tls,
      EventLoops loops,
      ConnectionLimit limit) {
    this.endpoints = endpoints;
    prefix = http2.rootPath() + "/";
    secure = tls.accepting() != null;
    server =
        new Http2Server(
            loops,
            tls.accepting(),
            new InetSocketAddress(SocketAddresses.literal(http2.host()), http2.port()),
            limit,
            Http2Calls.bounds(settings),
            this);
  }

  /** Returns the address under which an endpoint with {@code path} is reached. */
  TransportAddress.Http2 address(String path) {
    return new TransportAddress.Http2(
        secure, SocketAddresses.format(server.address()), prefix + path);
  }

  @Override
  public boolean take(long more, long held) {
    boolean taken = endpoints.arriving.take(more, held);
    if (!taken) {
      endpoints.refusedArrivals.increment();
    }
    return taken;
  }

  @Override
  public void give(long bytes) {
    endpoints.arriving.give(bytes);
  }

  @Override
  public void handle(Http2Request request, Http2Exchange exchange) {
    var path = request.path();
    var endpoint =
        path.startsWith(prefix) ? endpoints.endpoint(path.substring(prefix.length())) : null;
    if (endpoint == null) {
      var text = Acks.unknownEndpoint(path);
      exchange.refuse(Acks.httpStatus(text), text);
    } else {
      endpoint.receive(
          request.headers(), RequestFrame.ofPayload(request.control(), request.body()), exchange);
    }
  }

  /** Stops accepting connections. Idempotent. */
  void closeListener() {
    server.closeListener();
  }

  @Override
  public void close() {
    server.close();
  }
}
