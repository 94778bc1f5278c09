package io.dynamo.event.zmq;

import io.dynamo.metrics.Metrics;
import java.io.IOException;
import java.lang.System.Logger.Level;
import java.util.concurrent.atomic.AtomicBoolean;
import org.jspecify.annotations.Nullable;

/**
 * Receives messages with a fixed number of frames. Messages of any other form are dropped, counted,
 * and logged once.
 */
abstract class Messages {
  private static final System.Logger LOG = System.getLogger(Messages.class.getName());

  private final String what;
  private final String from;
  private final int frames;
  private final Metrics.Counter malformed;
  private final AtomicBoolean warned = new AtomicBoolean();

  /**
   * @param what description of the messages, for the log
   * @param from the publisher and its address, for the log
   * @param frames frames per message
   * @param malformed counts dropped messages
   */
  Messages(String what, String from, int frames, Metrics.Counter malformed) {
    this.what = what;
    this.from = from;
    this.frames = frames;
    this.malformed = malformed;
  }

  final int frames() {
    return frames;
  }

  /**
   * Handles a message.
   *
   * @throws IOException when the message is malformed, with the reason
   */
  abstract void receive(byte[][] frames) throws IOException;

  /** Handles a received message of {@code count} frames. */
  final void arrived(byte[][] message, int count) {
    try {
      if (count != frames) {
        throw new IOException("a message of " + count + " frames");
      }
      receive(message);
    } catch (IOException e) {
      drop(e.getMessage());
    }
  }

  /** Counts a dropped message. Safe on any thread. */
  final void drop(@Nullable String why) {
    malformed.increment();
    if (!warned.getAndSet(true)) {
      LOG.log(
          Level.WARNING,
          "dropped an event of {0} of {1}: {2}; more of its kind are only counted",
          from,
          what,
          why);
    }
  }
}
