package io.dynamo.event.zmq;

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

  private final String what;
  private final String from;
  private final SocketLoop loop;
  private final ZMQ.Socket socket;
  private final Metrics.Counter malformed;
  private final byte[][] frames;
  private boolean warned;

  /**
   * @param what is heard; for the log
   * @param from who is heard, and where; for the log
   * @param frames of each message
   * @param socket connected
   * @param malformed counts what is dropped
   */
  EventConnection(
      String what,
      String from,
      int frames,
      SocketLoop loop,
      ZMQ.Socket socket,
      Metrics.Counter malformed) {
    this.what = what;
    this.from = from;
    this.frames = new byte[frames][];
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
        if (count != frames.length) {
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
      if (count < frames.length) {
        frames[count] = frame;
      }
      count++;
      frame = socket.hasReceiveMore() ? socket.recv(ZMQ.DONTWAIT) : null;
    }
    return count;
  }

  private void drop(@Nullable String why) {
    malformed.increment();
    if (!warned) {
      warned = true;
      LOG.log(
          Level.WARNING,
          "dropped an event of {0} of {1}: {2}; more of its kind are only counted",
          from,
          what,
          why);
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
