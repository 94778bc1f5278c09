package io.dynamo.event.zmq;

import io.dynamo.event.EventPlane;
import io.dynamo.wire.event.EventEnvelope;
import java.time.InstantSource;
import org.zeromq.ZMQ;

/** A publisher on a bare socket, of id 7 unless another is given. */
final class BarePublisher implements EventPlane.Publisher {
  private final ZMQ.Socket socket;
  private final long id;
  private final String topic;
  private final InstantSource clock;
  private long sequence;

  BarePublisher(ZMQ.Socket socket, InstantSource clock) {
    this(socket, clock, 7, "kv-events");
  }

  BarePublisher(ZMQ.Socket socket, InstantSource clock, long id, String topic) {
    this.socket = socket;
    this.clock = clock;
    this.id = id;
    this.topic = topic;
  }

  @Override
  public long id() {
    return id;
  }

  /** Leaves so many numbers out. */
  void skip(int events) {
    sequence += events;
  }

  @Override
  public void publish(byte[] payload) {
    var event = new EventEnvelope(id, sequence++, clock.millis(), topic, payload);
    socket.sendMore(topic);
    socket.sendMore(EventFrames.number(id));
    socket.sendMore(EventFrames.number(event.sequence()));
    socket.send(EventFrames.envelope(event));
  }

  @Override
  public void close() {
    socket.close();
  }
}
