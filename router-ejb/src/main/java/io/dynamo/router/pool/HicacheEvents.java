package io.dynamo.router.pool;

import io.dynamo.event.RawStreams;
import io.dynamo.kv.ObjectEvent;
import io.dynamo.metrics.Metrics;
import io.dynamo.wire.kv.ObjectEventCodec;
import java.io.IOException;
import java.lang.System.Logger.Level;
import java.nio.ByteBuffer;
import java.util.List;

/**
 * Applies the events of Mooncake's master to an index. A message is an empty topic, a sequence
 * number of eight bytes, big-endian, that rises by one, and the events. The master does not repeat
 * messages: when a number is missing, or there has been no connection for a while, the index may be
 * wrong, and is cleared. Runs on the stream's thread.
 */
final class HicacheEvents implements RawStreams.Listener {
  private static final System.Logger LOG = System.getLogger(HicacheEvents.class.getName());

  private final String what;
  private final PageIndex index;
  private final Metrics.Counter failures;
  private boolean heard;
  private long last; // sequence number of the last message, if any
  private boolean again; // whether the stream has reconnected since
  private boolean silent;
  private boolean warned;

  /**
   * Creates a listener of one source.
   *
   * @param what names the source of the events in the log
   */
  HicacheEvents(String what, PageIndex index, Metrics.Counter failures) {
    this.what = what;
    this.index = index;
    this.failures = failures;
  }

  @Override
  public void message(byte[][] frames) throws IOException {
    if (frames[1].length != Long.BYTES) {
      throw new IOException("a number of %d bytes".formatted(frames[1].length));
    }
    long number = ByteBuffer.wrap(frames[1]).getLong();
    var events = decoded(frames[2]);
    if (heard && number == last && !again) {
      return; // a duplicate
    }
    if (heard && number != last + 1) {
      missed(number);
    }
    heard = true;
    last = number;
    again = false;
    boolean room = true;
    for (var event : events) {
      room &= index.apply(event);
    }
    if (!room) {
      warn(
          "it has more than %d pages; no more are learned of until some go"
              .formatted(index.size()));
    }
  }

  private static List<ObjectEvent> decoded(byte[] payload) throws IOException {
    try {
      return ObjectEventCodec.decode(payload);
    } catch (IllegalArgumentException e) {
      throw new IOException(e.getMessage(), e);
    }
  }

  private void missed(long number) {
    failures.increment();
    warn(
        "message %s follows %s; what was known of it is forgotten"
            .formatted(Long.toUnsignedString(number), Long.toUnsignedString(last)));
    index.clear();
  }

  /** Logs once per connection. */
  private void warn(String why) {
    if (!warned) {
      warned = true;
      LOG.log(Level.WARNING, "{0}: {1}", what, why);
    }
  }

  @Override
  public void up() {
    again = heard;
    warned = false;
    if (silent) {
      silent = false;
      LOG.log(Level.INFO, "{0} is heard again", what);
    }
  }

  @Override
  public void cut() {
    failures.increment();
    silent = true;
    heard = false;
    index.clear();
    LOG.log(Level.WARNING, "{0} is not heard; until it is, it counts for nothing", what);
  }
}
