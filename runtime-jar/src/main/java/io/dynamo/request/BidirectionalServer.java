package io.dynamo.request;

import io.dynamo.discovery.EndpointId;
import io.dynamo.discovery.InstanceId;
import io.dynamo.wire.MessageCodec;

/** Serves endpoints whose requests are streams. Safe for concurrent use. */
public interface BidirectionalServer {
  /**
   * Answers request streams to {@code endpoint} from now on. A request of one item is refused with
   * a typed error.
   */
  <Q, R> EndpointServer.Served serveStreams(
      EndpointId endpoint,
      InstanceId id,
      BidirectionalHandler<Q, R> handler,
      MessageCodec<Q, R> codec);
}
