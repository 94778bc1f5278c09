package io.dynamo.event.codec;

import io.dynamo.event.EventEnvelope;
import java.io.IOException;
import java.nio.charset.StandardCharsets;

/**
 * The envelope: a msgpack map of five entries, the event itself its last, as bytes. Written in
 * Dynamo's order, integers in the shortest form; read in any order, with unknown keys among them,
 * or as an array in that order. A text passes for the payload; an array of integers does not.
 * Stateless.
 *
 * @see <a href="https://github.com/msgpack/msgpack/blob/master/spec.md">the format</a>
 */
public final class EnvelopeCodec {
  static final byte[] PUBLISHER_ID = key("publisher_id");
  static final byte[] SEQUENCE = key("sequence");
  static final byte[] PUBLISHED_AT = key("published_at");
  static final byte[] TOPIC = key("topic");
  static final byte[] PAYLOAD = key("payload");

  private static final int ENTRIES = 5;
  private static final int FIXED_BYTES = // the map's own byte, the keys, and the longest of each
      1
          + PUBLISHER_ID.length
          + SEQUENCE.length
          + PUBLISHED_AT.length
          + TOPIC.length
          + PAYLOAD.length
          + 5
          + 3 * 9
          + 5
          + 5;

  private EnvelopeCodec() {}

  private static byte[] key(String name) {
    return name.getBytes(StandardCharsets.US_ASCII);
  }

  /**
   * The envelope of {@code event}.
   *
   * @param prefixBytes left free in front, for a frame
   */
  public static byte[] encode(EventEnvelope event, int prefixBytes) {
    var topic = event.topic().getBytes(StandardCharsets.UTF_8);
    var out =
        new EnvelopeWriter(
            prefixBytes, Math.addExact(FIXED_BYTES + topic.length, event.payload().length));
    out.map(ENTRIES);
    out.string(PUBLISHER_ID);
    out.unsigned(event.publisherId());
    out.string(SEQUENCE);
    out.unsigned(event.sequence());
    out.string(PUBLISHED_AT);
    out.unsigned(event.publishedAtMillis());
    out.string(TOPIC);
    out.string(topic);
    out.string(PAYLOAD);
    out.binary(event.payload());
    return out.finish();
  }

  /**
   * Reads what lies in {@code bytes} from {@code from} to the end.
   *
   * @throws IOException saying what is wrong with it
   */
  public static EventEnvelope decode(byte[] bytes, int from) throws IOException {
    var in = new EnvelopeReader(bytes, from);
    var event = in.read();
    in.end();
    return event;
  }
}
