package io.dynamo.request;

import io.dynamo.concurrent.Deadline;
import io.dynamo.discovery.EndpointId;
import io.dynamo.discovery.InstanceId;
import io.dynamo.discovery.TransportAddress;
import io.dynamo.wire.MessageCodec;

/** The worker's side of the request plane. Safe for concurrent use. */
public interface EndpointServer extends AutoCloseable {
  /** An endpoint that is being served. */
  interface Served {
    /**
     * Returns the address under which requesters reach the endpoint; it goes into the instance
     * record.
     */
    TransportAddress address();

    /** Returns the number of requests being served. */
    int inFlight();

    /**
     * Refuses new requests at once and waits until the running ones have ended or the deadline has
     * passed.
     *
     * @return whether all of them ended
     */
    boolean drain(Deadline deadline) throws InterruptedException;

    /**
     * Refuses new requests and ends the running ones with a typed error that lets the requester
     * migrate. Idempotent.
     */
    void close();
  }

  /** The admission limits that the requests of an endpoint count against. */
  enum Room {
    /**
     * The engine's limits: requests run, wait and are refused together with those of all such
     * endpoints.
     */
    ENGINE,
    /**
     * Limits of the endpoint's own, so that a loaded engine does not delay it. For handlers that
     * start no engine work and bound what they take.
     */
    OWN
  }

  /** Answers requests to {@code endpoint} from now on. The listener is bound when this returns. */
  <Q, R> Served serve(
      EndpointId endpoint,
      InstanceId id,
      EndpointHandler<Q, R> handler,
      MessageCodec<Q, R> codec,
      Room room);

  /** Serves an endpoint within the engine's room, like the other {@code serve}. */
  default <Q, R> Served serve(
      EndpointId endpoint, InstanceId id, EndpointHandler<Q, R> handler, MessageCodec<Q, R> codec) {
    return serve(endpoint, id, handler, codec, Room.ENGINE);
  }

  @Override
  void close();
}
