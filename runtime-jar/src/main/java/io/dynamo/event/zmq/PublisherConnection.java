package io.dynamo.event.zmq;

import io.dynamo.event.EventDelivery;
import io.dynamo.event.EventSubject;
import io.dynamo.metrics.Metrics;
import java.io.IOException;
import java.lang.System.Logger.Level;
import org.jspecify.annotations.Nullable;
import org.zeromq.ZMQ;

/**
 * A SUB socket that hears one publisher, and the checks of what it sends. What is wrong is dropped,
 * counted, and logged once. By the loop's thread only.
 */
final class PublisherConnection implements SocketLoop.Source {
  /** The sequence that is expected of a publisher that was never heard. */
  static final long UNKNOWN = -1;

  private static final System.Logger LOG = System.getLogger(PublisherConnection.class.getName());
  private static final int BATCH = 256; // events read before another publisher has its turn
  private static final int LAST_BATCHES = 400; // a publisher that is gone may still be sending

  private final EventSubject subject;
  private final long publisherId;
  private final String endpoint;
  private final SocketLoop loop;
  private final ZMQ.Socket socket;
  private final EventDelivery delivery;
  private final Metrics.Counter malformed;
  private final Metrics.Counter missed;
  private final byte[][] frames = new byte[EventFrames.COUNT][];
  private long expected; // sequence of the next event
  private boolean warned;

  /**
   * @param socket connected to {@code endpoint}
   * @param expected sequence of the next event, or {@link #UNKNOWN}
   */
  PublisherConnection(
      EventSubject subject,
      long publisherId,
      String endpoint,
      SocketLoop loop,
      ZMQ.Socket socket,
      EventDelivery delivery,
      Metrics.Counter malformed,
      Metrics.Counter missed,
      long expected) {
    this.subject = subject;
    this.publisherId = publisherId;
    this.endpoint = endpoint;
    this.loop = loop;
    this.socket = socket;
    this.delivery = delivery;
    this.malformed = malformed;
    this.missed = missed;
    this.expected = expected;
  }

  /** The sequence of the next event, or {@link #UNKNOWN}. */
  long expected() {
    return expected;
  }

  void open() {
    loop.own(this, socket.getFD());
  }

  @Override
  public boolean read() {
    for (int i = 0; i < BATCH; i++) {
      int count = readMessage();
      if (count == 0) {
        return false;
      }
      if (count == EventFrames.COUNT) {
        hear();
      } else {
        drop("a message of " + count + " frames");
      }
    }
    return true;
  }

  /** Returns the number of frames, of which the first are kept; 0 when there is no message. */
  private int readMessage() {
    var frame = socket.recv(ZMQ.DONTWAIT);
    int count = 0;
    while (frame != null) {
      if (count < EventFrames.COUNT) {
        frames[count] = frame;
      }
      count++;
      frame = socket.hasReceiveMore() ? socket.recv(ZMQ.DONTWAIT) : null;
    }
    return count;
  }

  private void hear() {
    try {
      var event = EventFrames.read(frames, publisherId, subject.topic());
      if (expected != UNKNOWN && event.sequence() > expected) {
        missed.add(event.sequence() - expected);
      }
      expected = event.sequence() + 1;
      delivery.event(event);
    } catch (IOException e) {
      drop(e.getMessage());
    }
  }

  private void drop(@Nullable String what) {
    malformed.increment();
    if (!warned) {
      warned = true;
      LOG.log(
          Level.WARNING,
          "dropped an event of publisher {0} of {1} at {2}: {3}; more of its kind are only counted",
          Long.toHexString(publisherId),
          subject,
          endpoint,
          what);
    }
  }

  /** Reads what has arrived, as far as it is bounded, and closes. */
  void finish() {
    for (int i = 0; i < LAST_BATCHES && read(); i++) {
      // each read hands over a batch
    }
    close();
  }

  @Override
  public void close() {
    loop.disown(this, socket.getFD());
    socket.close();
  }
}
