package io.dynamo.wire.kv;

import io.dynamo.error.InvalidRequestException;
import io.dynamo.net.PayloadFormat;
import io.dynamo.wire.WireReader;
import java.io.IOException;
import java.nio.ByteBuffer;
import java.util.ArrayList;
import java.util.List;
import org.jspecify.annotations.Nullable;

/**
 * Reads the batch in which engines and stores publish their events: {@code [time, [event, …], …]}
 * in msgpack. Stateless.
 */
final class EventBatch {
  private EventBatch() {}

  /** Reads one event. */
  interface EventReader<T> {
    /**
     * @return null for an event that is skipped
     */
    @Nullable T read(WireReader in) throws IOException;
  }

  /**
   * Reads a whole payload.
   *
   * @param what name of the payload, for messages
   * @throws IllegalArgumentException when it is not such a batch
   */
  static <T> List<T> decode(String what, byte[] payload, EventReader<T> events) {
    try {
      return WireReader.read(
          what, ByteBuffer.wrap(payload), PayloadFormat.MSGPACK, in -> read(in, events));
    } catch (InvalidRequestException e) {
      throw new IllegalArgumentException(e.getMessage(), e);
    }
  }

  private static <T> List<T> read(WireReader in, EventReader<T> reader) throws IOException {
    in.beginArray();
    need(in.nextElement(), "no time");
    in.skip();
    need(in.nextElement(), "no events");
    var events = new ArrayList<T>();
    in.beginArray();
    while (in.nextElement()) {
      var event = reader.read(in);
      if (event != null) {
        events.add(event);
      }
    }
    while (in.nextElement()) {
      in.skip();
    }
    return events;
  }

  private static void need(boolean there, String what) throws IOException {
    if (!there) {
      throw new IOException(what);
    }
  }
}
