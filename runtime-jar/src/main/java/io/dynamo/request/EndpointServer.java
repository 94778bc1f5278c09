package io.dynamo.request;

import io.dynamo.concurrent.Deadline;
import io.dynamo.discovery.EndpointId;
import io.dynamo.discovery.InstanceId;
import io.dynamo.discovery.TransportAddress;

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

  /** Answers requests to {@code endpoint} from now on. The listener is bound when this returns. */
  <Q, R> Served serve(
      EndpointId endpoint, InstanceId id, EndpointHandler<Q, R> handler, MessageCodec<Q, R> codec);

  @Override
  void close();
}
