package io.dynamo.event.zmq;

import io.dynamo.event.EventSubject;
import io.dynamo.metrics.Metrics;
import java.io.IOException;
import java.lang.System.Logger.Level;
import org.jspecify.annotations.Nullable;
import org.zeromq.ZMQ;

/**
 * A SUB socket whose messages are events. What is none of those expected here is dropped, counted,
 * and logged once. By the loop's thread only.
 */
abstract class EventConnection implements SocketLoop.Source {
  private static final System.Logger LOG = System.getLogger(EventConnection.class.getName());
  private static final int BATCH = 256; // events read before another connection has its turn
  private static final int LAST_BATCHES = 400; // a publisher that is gone may still be sending

  private final EventSubject subject;
  private final String from;
  private final SocketLoop loop;
  private final ZMQ.Socket socket;
  private final Metrics.Counter malformed;
  private final byte[][] frames = new byte[EventFrames.COUNT][];
  private boolean warned;

  /**
   * @param from who is heard, and where; for the log
   * @param socket connected
   * @param malformed counts what is dropped
   */
  EventConnection(
      EventSubject subject,
      String from,
      SocketLoop loop,
      ZMQ.Socket socket,
      Metrics.Counter malformed) {
    this.subject = subject;
    this.from = from;
    this.loop = loop;
    this.socket = socket;
    this.malformed = malformed;
  }

  /**
   * Takes a message.
   *
   * @throws IOException saying what is wrong with it
   */
  abstract void hear(byte[][] frames) throws IOException;

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
      try {
        if (count != EventFrames.COUNT) {
          throw new IOException("a message of " + count + " frames");
        }
        hear(frames);
      } catch (IOException e) {
        drop(e.getMessage());
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

  private void drop(@Nullable String what) {
    malformed.increment();
    if (!warned) {
      warned = true;
      LOG.log(
          Level.WARNING,
          "dropped an event of {0} of {1}: {2}; more of its kind are only counted",
          from,
          subject,
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
