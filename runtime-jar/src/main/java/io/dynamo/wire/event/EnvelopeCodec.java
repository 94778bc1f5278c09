package io.dynamo.wire.event;

import io.dynamo.net.PayloadFormat;
import io.dynamo.wire.Keys;
import io.dynamo.wire.WireReader;
import io.dynamo.wire.WireWriter;
import java.io.IOException;
import java.nio.ByteBuffer;
import java.nio.charset.StandardCharsets;
import org.jspecify.annotations.Nullable;

/**
 * Encodes and decodes the envelope: a msgpack map of five entries, the last one the event itself as
 * bytes. Written in Dynamo's order; read in any order, with unknown keys among them, or as an array
 * in that order. A text is accepted as the payload; an array of integers is not. Stateless.
 */
public final class EnvelopeCodec {
  /** The positions of the names in {@link #KEYS}. */
  private static final class Field {
    static final int PUBLISHER_ID = 0;
    static final int SEQUENCE = 1;
    static final int PUBLISHED_AT = 2;
    static final int TOPIC = 3;
    static final int PAYLOAD = 4;
    static final Keys KEYS =
        new Keys(
            Keys.entry(PUBLISHER_ID, "publisher_id"),
            Keys.entry(SEQUENCE, "sequence"),
            Keys.entry(PUBLISHED_AT, "published_at"),
            Keys.entry(TOPIC, "topic"),
            Keys.entry(PAYLOAD, "payload"));
  }

  private EnvelopeCodec() {}

  /** Returns the envelope of {@code event}. */
  public static byte[] encode(EventEnvelope event) {
    return WireWriter.write(event, PayloadFormat.MSGPACK, EnvelopeCodec::write);
  }

  private static void write(WireWriter out, EventEnvelope event) throws IOException {
    out.beginMap(Field.KEYS.size());
    out.key("publisher_id");
    out.unsigned(event.publisherId());
    out.key("sequence");
    out.unsigned(event.sequence());
    out.key("published_at");
    out.unsigned(event.publishedAtMillis());
    out.key("topic");
    out.string(event.topic());
    out.key("payload");
    out.binary(event.payload());
    out.endMap();
  }

  /**
   * Reads the one envelope that {@code bytes} contain.
   *
   * @throws IOException when it is malformed, with the reason
   */
  public static EventEnvelope decode(ByteBuffer bytes) throws IOException {
    try {
      var in = WireReader.of(bytes, PayloadFormat.MSGPACK);
      var event = new Entries().read(in);
      in.end();
      return event;
    } catch (ArithmeticException e) {
      throw new IOException("the envelope holds a number that is too large", e);
    }
  }

  /** Collects the entries of one envelope. */
  private static final class Entries {
    private long publisherId;
    private long sequence;
    private long publishedAtMillis;
    private @Nullable String topic;
    private byte @Nullable [] payload;
    private int seen; // one bit per entry, in their order

    EventEnvelope read(WireReader in) throws IOException {
      if (in.isMap()) {
        in.beginMap();
        for (int key = in.nextKey(Field.KEYS); key != Keys.END; key = in.nextKey(Field.KEYS)) {
          if (key == Keys.UNKNOWN) {
            in.skip();
          } else {
            take(key, in);
          }
        }
      } else {
        in.beginArray();
        int entry = 0;
        while (in.nextElement()) {
          if (entry == Field.KEYS.size()) {
            throw new IOException("the envelope has more than its entries");
          }
          take(entry++, in);
        }
      }
      if (topic == null || payload == null || seen != (1 << Field.KEYS.size()) - 1) {
        throw new IOException("the envelope lacks an entry");
      }
      return new EventEnvelope(publisherId, sequence, publishedAtMillis, topic, payload);
    }

    private void take(int entry, WireReader in) throws IOException {
      switch (entry) {
        case Field.PUBLISHER_ID -> publisherId = in.unsigned();
        case Field.SEQUENCE -> sequence = in.unsigned();
        case Field.PUBLISHED_AT -> publishedAtMillis = in.unsigned();
        case Field.TOPIC -> topic = in.string();
        case Field.PAYLOAD -> payload = payload(in);
        default -> throw new IllegalStateException("entry " + entry);
      }
      seen |= 1 << entry;
    }

    private static byte[] payload(WireReader in) throws IOException {
      return switch (in.any()) {
        case byte[] bytes -> bytes;
        case String text -> text.getBytes(StandardCharsets.UTF_8);
        case null, default -> throw new IOException("the payload is neither bytes nor a text");
      };
    }
  }
}
