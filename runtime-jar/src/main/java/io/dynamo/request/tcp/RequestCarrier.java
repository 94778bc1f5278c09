package io.dynamo.request.tcp;

import io.dynamo.discovery.EndpointId;
import io.dynamo.discovery.InstanceId;
import io.dynamo.discovery.TransportAddress;
import io.dynamo.error.DynamoException;
import java.util.Map;

/**
 * Carries requests to workers by other means than a connection to the worker; answers come over TCP
 * as ever. Safe for concurrent use.
 */
public interface RequestCarrier {
  /** Receives the outcome of one request, once, on any thread; must not block. */
  interface Outcome {
    /**
     * @param acknowledgement the worker's text; empty when the request was accepted
     */
    void acknowledged(String acknowledgement);

    void failed(DynamoException cause);
  }

  /** Receives the requests of one endpoint; must not block. */
  @FunctionalInterface
  interface Receiver {
    /**
     * @param payload two-part frame of control message and body
     * @return the text of the acknowledgement; empty accepts the request
     */
    String receive(Map<String, String> headers, byte[] payload);
  }

  /** An endpoint whose requests are received until it is closed. Idempotent. */
  interface Receiving extends AutoCloseable {
    @Override
    void close();
  }

  /** Sends a request without waiting. */
  void send(TransportAddress.Nats to, Map<String, String> headers, byte[] payload, Outcome outcome);

  /** Returns the address that instances of {@code endpoint} advertise. */
  TransportAddress.Nats address(EndpointId endpoint, InstanceId id);

  /** Receives the requests to {@code address} from now on. */
  Receiving receive(TransportAddress.Nats address, Receiver receiver);
}
