package io.dynamo.event.zmq;

import io.dynamo.event.EventSubject;
import io.dynamo.wire.event.EnvelopeCodec;
import io.dynamo.wire.event.EventEnvelope;
import java.io.IOException;
import java.lang.invoke.MethodHandles;
import java.lang.invoke.VarHandle;
import java.nio.ByteBuffer;
import java.nio.ByteOrder;
import java.nio.charset.StandardCharsets;

/**
 * Encodes an event as four frames, numbers big-endian.
 *
 * <pre>
 *  0 | topic; the whole subject where there is a broker |
 *  1 | publisher id, 8 bytes |
 *  2 | sequence, 8 bytes |
 *  3 | version 1 | length of the envelope, 4 bytes | envelope |
 * </pre>
 */
final class EventFrames {
  static final int COUNT = 4;

  private static final byte VERSION = 1;
  private static final int HEADER_BYTES = 5;
  private static final VarHandle LONG =
      MethodHandles.byteArrayViewVarHandle(long[].class, ByteOrder.BIG_ENDIAN);
  private static final VarHandle INT =
      MethodHandles.byteArrayViewVarHandle(int[].class, ByteOrder.BIG_ENDIAN);

  private EventFrames() {}

  static byte[] topic(String topic) {
    return topic.getBytes(StandardCharsets.UTF_8);
  }

  /** Returns the text of the first frame for events that go through a broker. */
  static String subject(EventSubject subject) {
    return subject.text();
  }

  static byte[] number(long value) {
    var frame = new byte[Long.BYTES];
    LONG.set(frame, 0, value);
    return frame;
  }

  /** Returns the last frame of {@code event}. */
  static byte[] envelope(EventEnvelope event) {
    var envelope = EnvelopeCodec.encode(event);
    return ByteBuffer.allocate(HEADER_BYTES + envelope.length)
        .put(VERSION)
        .putInt(envelope.length)
        .put(envelope)
        .array();
  }

  /**
   * Reads an event of {@code publisherId}.
   *
   * @throws IOException when the event is malformed, with the reason
   */
  static EventEnvelope read(byte[][] frames, long publisherId, String topic) throws IOException {
    long framedId = number(frames[1]);
    if (framedId != publisherId) {
      throw new IOException(
          "it says publisher %x where %x was found".formatted(framedId, publisherId));
    }
    var last = frames[3];
    if (last.length < HEADER_BYTES || last[0] != VERSION) {
      throw new IOException("its envelope is not of version " + VERSION);
    }
    long length = Integer.toUnsignedLong((int) INT.get(last, 1));
    if (length != last.length - HEADER_BYTES) {
      throw new IOException(
          "its envelope of %d bytes is announced as %d"
              .formatted(last.length - HEADER_BYTES, length));
    }
    var event =
        EnvelopeCodec.decode(ByteBuffer.wrap(last, HEADER_BYTES, last.length - HEADER_BYTES));
    if (event.publisherId() != framedId || event.sequence() != number(frames[2])) {
      throw new IOException("publisher or sequence differ between frames and envelope");
    }
    if (!event.topic().equals(topic)) {
      throw new IOException("the topic of its envelope is another");
    }
    return event;
  }

  static long number(byte[] frame) throws IOException {
    if (frame.length != Long.BYTES) {
      throw new IOException("a number of %d bytes".formatted(frame.length));
    }
    return (long) LONG.get(frame, 0);
  }
}
