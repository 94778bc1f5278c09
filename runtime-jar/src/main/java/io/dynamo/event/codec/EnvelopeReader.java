package io.dynamo.event.codec;

import io.dynamo.event.EventEnvelope;
import java.io.IOException;
import java.nio.charset.StandardCharsets;
import java.util.Arrays;
import org.jspecify.annotations.Nullable;

/** Reads one envelope; every length is checked against the bytes that are left. One thread. */
final class EnvelopeReader {
  private static final int ENTRIES = 5;

  private final byte[] bytes;
  private int at;

  private long publisherId;
  private long sequence;
  private long publishedAtMillis;
  private @Nullable String topic;
  private byte @Nullable [] payload;
  private int seen; // one bit per entry, in their order

  EnvelopeReader(byte[] bytes, int from) {
    this.bytes = bytes;
    this.at = from;
  }

  EventEnvelope read() throws IOException {
    int type = next();
    if ((type & 0xf0) == 0x80) {
      map(type & 0x0f);
    } else if (type == 0xde) {
      map(unsignedBytes(2));
    } else if (type == 0xdf) {
      map(unsignedBytes(4));
    } else if (type == (0x90 | ENTRIES)) {
      for (int entry = 0; entry < ENTRIES; entry++) {
        value(entry);
      }
    } else {
      throw new IOException("type 0x%02x is no envelope".formatted(type));
    }
    if (topic == null || payload == null || seen != (1 << ENTRIES) - 1) {
      throw new IOException("the envelope lacks an entry");
    }
    return new EventEnvelope(publisherId, sequence, publishedAtMillis, topic, payload);
  }

  private void map(long size) throws IOException {
    for (long i = 0; i < size; i++) {
      int type = next();
      if (!isString(type)) {
        throw new IOException("type 0x%02x is no key of an envelope".formatted(type));
      }
      int count = stringLength(type);
      int from = at;
      at += count;
      int entry = entry(from, count);
      if (entry < 0) {
        skip();
      } else {
        value(entry);
      }
    }
  }

  private int entry(int from, int count) {
    if (is(EnvelopeCodec.PUBLISHER_ID, from, count)) {
      return 0;
    } else if (is(EnvelopeCodec.SEQUENCE, from, count)) {
      return 1;
    } else if (is(EnvelopeCodec.PUBLISHED_AT, from, count)) {
      return 2;
    } else if (is(EnvelopeCodec.TOPIC, from, count)) {
      return 3;
    }
    return is(EnvelopeCodec.PAYLOAD, from, count) ? 4 : -1;
  }

  private boolean is(byte[] key, int from, int count) {
    return Arrays.equals(key, 0, key.length, bytes, from, from + count);
  }

  private void value(int entry) throws IOException {
    switch (entry) {
      case 0 -> publisherId = unsigned();
      case 1 -> sequence = unsigned();
      case 2 -> publishedAtMillis = unsigned();
      case 3 -> topic = topic();
      default -> payload = payload();
    }
    seen |= 1 << entry;
  }

  private String topic() throws IOException {
    int type = next();
    if (!isString(type)) {
      throw new IOException("type 0x%02x is no topic".formatted(type));
    }
    int count = stringLength(type);
    var text = new String(bytes, at, count, StandardCharsets.UTF_8);
    at += count;
    return text;
  }

  private byte[] payload() throws IOException {
    int type = next();
    int count =
        switch (type) {
          case 0xc4 -> fitting(unsignedBytes(1));
          case 0xc5 -> fitting(unsignedBytes(2));
          case 0xc6 -> fitting(unsignedBytes(4));
          default -> {
            if (!isString(type)) {
              throw new IOException("type 0x%02x is no payload".formatted(type));
            }
            yield stringLength(type);
          }
        };
    var copy = Arrays.copyOfRange(bytes, at, at + count);
    at += count;
    return copy;
  }

  private long unsigned() throws IOException {
    int type = next();
    return switch (type) {
      case 0xcc -> unsignedBytes(1);
      case 0xcd -> unsignedBytes(2);
      case 0xce -> unsignedBytes(4);
      case 0xcf -> unsignedBytes(8);
      default -> {
        if (type >= 0x80) {
          throw new IOException("type 0x%02x is no unsigned integer".formatted(type));
        }
        yield type;
      }
    };
  }

  private static boolean isString(int type) {
    return (type & 0xe0) == 0xa0 || (type >= 0xd9 && type <= 0xdb);
  }

  private int stringLength(int type) throws IOException {
    return fitting(
        switch (type) {
          case 0xd9 -> unsignedBytes(1);
          case 0xda -> unsignedBytes(2);
          case 0xdb -> unsignedBytes(4);
          default -> type & 0x1f;
        });
  }

  /** Passes over a value of a key that is not ours, however deep: it counts what is still owed. */
  private void skip() throws IOException {
    for (long owed = 1; owed > 0; owed--) {
      int type = next();
      if ((type & 0xf0) == 0x80) {
        owed += 2L * (type & 0x0f);
      } else if ((type & 0xf0) == 0x90) {
        owed += type & 0x0f;
      } else if (isString(type)) {
        int count = stringLength(type);
        at += count;
      } else if (type >= 0xc0 && type < 0xe0) {
        owed += skipSized(type);
      }
      if (owed - 1 > bytes.length - at) {
        throw new IOException("%d values do not fit in what is left".formatted(owed - 1));
      }
    }
  }

  /** Passes over what follows {@code type}, but for elements; returns the number of those. */
  private long skipSized(int type) throws IOException {
    long count =
        switch (type) {
          case 0xc0, 0xc2, 0xc3 -> 0;
          case 0xcc, 0xd0 -> 1;
          case 0xcd, 0xd1 -> 2;
          case 0xca, 0xce, 0xd2 -> 4;
          case 0xcb, 0xcf, 0xd3 -> 8;
          case 0xc4 -> unsignedBytes(1);
          case 0xc5 -> unsignedBytes(2);
          case 0xc6 -> unsignedBytes(4);
          case 0xc7 -> 1 + unsignedBytes(1);
          case 0xc8 -> 1 + unsignedBytes(2);
          case 0xc9 -> 1 + unsignedBytes(4);
          case 0xd4, 0xd5, 0xd6, 0xd7, 0xd8 -> 1 + (1 << (type - 0xd4));
          case 0xdc -> {
            long elements = unsignedBytes(2);
            yield -elements;
          }
          case 0xdd -> {
            long elements = unsignedBytes(4);
            yield -elements;
          }
          case 0xde -> {
            long entries = unsignedBytes(2);
            yield -2 * entries;
          }
          case 0xdf -> {
            long entries = unsignedBytes(4);
            yield -2 * entries;
          }
          default -> throw new IOException("type 0x%02x is not msgpack".formatted(type));
        };
    if (count < 0) {
      return -count;
    }
    at += fitting(count);
    return 0;
  }

  void end() throws IOException {
    if (at != bytes.length) {
      throw new IOException("%d bytes follow the envelope".formatted(bytes.length - at));
    }
  }

  private int next() throws IOException {
    need(1);
    return bytes[at++] & 0xff;
  }

  private long unsignedBytes(int count) throws IOException {
    need(count);
    long value = 0;
    for (int i = 0; i < count; i++) {
      value = (value << 8) | (bytes[at++] & 0xff);
    }
    return value;
  }

  private int fitting(long count) throws IOException {
    need(count);
    return (int) count;
  }

  private void need(long count) throws IOException {
    if (count > bytes.length - at) {
      throw new IOException("the envelope ends too early");
    }
  }
}
