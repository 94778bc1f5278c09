package io.dynamo.discovery;

import java.util.List;

/** The transport over which the events of a channel are received. */
public sealed interface EventTransport {
  /**
   * A publisher's own ZeroMQ PUB socket.
   *
   * @param endpoint {@code tcp://ip:port}, where subscribers connect
   */
  record Zmq(String endpoint) implements EventTransport {}

  /**
   * A ZeroMQ broker: publishers connect to all of {@code xsub}, subscribers to all of {@code xpub}.
   */
  record ZmqBroker(List<String> xsub, List<String> xpub) implements EventTransport {
    public ZmqBroker {
      xsub = List.copyOf(xsub);
      xpub = List.copyOf(xpub);
    }
  }

  /**
   * Core NATS.
   *
   * @param subjectPrefix the subject without the topic
   */
  record Nats(String subjectPrefix) implements EventTransport {}
}
