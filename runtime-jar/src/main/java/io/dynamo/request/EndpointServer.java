package io.dynamo.request;

import io.dynamo.concurrent.Deadline;
import io.dynamo.discovery.EndpointId;
import io.dynamo.discovery.InstanceId;
import io.dynamo.discovery.TransportAddress;
import io.dynamo.wire.MessageCodec;

/** The worker's side of the request plane. Safe for concurrent use. */
public interface EndpointServer extends AutoCloseable {
  /** An endpoint that answers. */
  interface Served {
    /** Where it is reached; goes into the instance record. */
    TransportAddress address();

    /** Requests being served. */
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

  /** The room that the requests of an endpoint take. */
  enum Room {
    /** The engine's: they run, wait and are refused together with those of all such endpoints. */
    ENGINE,
    /**
     * That of the endpoint: a loaded engine does not keep it from answering. For handlers that
     * start no work of the engine and bound what they take.
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

  /** As the other {@code serve}, in the engine's room. */
  default <Q, R> Served serve(
      EndpointId endpoint, InstanceId id, EndpointHandler<Q, R> handler, MessageCodec<Q, R> codec) {
    return serve(endpoint, id, handler, codec, Room.ENGINE);
  }

  @Override
  void close();
}
