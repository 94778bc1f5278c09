package io.dynamo.request;

import io.dynamo.discovery.EndpointId;
import io.dynamo.discovery.InstanceId;
import io.dynamo.trace.Tracing;
import io.dynamo.wire.MessageCodec;

/**
 * Serves endpoints through another server and records a span for each request that its requester
 * traces. Safe for concurrent use.
 */
public final class TracedServer implements EndpointServer {
  private final EndpointServer server;
  private final Tracing tracing;

  /** Takes ownership of {@code server}, but not of {@code tracing}. */
  public TracedServer(EndpointServer server, Tracing tracing) {
    this.server = server;
    this.tracing = tracing;
  }

  @Override
  public <Q, R> Served serve(
      EndpointId endpoint,
      InstanceId id,
      EndpointHandler<Q, R> handler,
      MessageCodec<Q, R> codec,
      Room room) {
    return server.serve(
        endpoint, id, new TracedHandler<>(handler, tracing, endpoint, id), codec, room);
  }

  @Override
  public void close() {
    server.close();
  }
}
