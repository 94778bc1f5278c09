package io.dynamo.frontend.kserve;

import java.nio.ByteBuffer;
import java.nio.charset.StandardCharsets;
import java.util.Arrays;

/**
 * A reusable buffer that fields of protobuf messages are appended to. Fields with the default value
 * of their type are left out, as protobuf does. For one thread.
 */
public final class ProtoBuffer {
  private static final int VARINT = 0;
  private static final int FIXED64 = 1;
  private static final int LENGTH_DELIMITED = 2;
  private static final int LONGEST_VARINT = 10;

  private byte[] bytes;
  private int size;

  public ProtoBuffer(int initialBytes) {
    bytes = new byte[Math.max(64, initialBytes)];
  }

  public int size() {
    return size;
  }

  public void clear() {
    size = 0;
  }

  public byte[] toByteArray() {
    return Arrays.copyOf(bytes, size);
  }

  /** The content; valid until the next change. */
  public byte[] array() {
    return bytes;
  }

  public ProtoBuffer string(int field, String value) {
    return value.isEmpty() ? this : element(field, value);
  }

  /** Appends an element of a repeated string or bytes field: an empty one is written, too. */
  public ProtoBuffer element(int field, String value) {
    return element(field, ByteBuffer.wrap(value.getBytes(StandardCharsets.UTF_8)));
  }

  /** Appends an element of a repeated bytes field. */
  public ProtoBuffer element(int field, ByteBuffer value) {
    tag(field, LENGTH_DELIMITED);
    rawVarint(value.remaining());
    room(value.remaining());
    value.duplicate().get(bytes, size, value.remaining());
    size += value.remaining();
    return this;
  }

  public ProtoBuffer bool(int field, boolean value) {
    return value ? varint(field, 1) : this;
  }

  public ProtoBuffer number(int field, long value) {
    return value == 0 ? this : varint(field, value);
  }

  /** Appends a number, also 0: in a {@code oneof} it says which field is set. */
  public ProtoBuffer varint(int field, long value) {
    tag(field, VARINT);
    rawVarint(value);
    return this;
  }

  /** Appends a number of eight bytes, also 0. */
  public ProtoBuffer fixed64(int field, double value) {
    tag(field, FIXED64);
    rawFixed(Double.doubleToRawLongBits(value), Double.BYTES);
    return this;
  }

  /** Begins a message, or a packed field. Returns what {@link #close} takes. */
  public int open(int field) {
    tag(field, LENGTH_DELIMITED);
    return size;
  }

  /** Ends a message or packed field: its length goes before it. */
  public void close(int opened) {
    int length = size - opened;
    int head = varintBytes(length);
    room(head);
    System.arraycopy(bytes, opened, bytes, opened + head, length);
    size = opened;
    rawVarint(length);
    size = opened + head + length;
  }

  /** Appends a value inside of a packed field. */
  public void rawVarint(long value) {
    room(LONGEST_VARINT);
    long rest = value;
    while ((rest & ~0x7FL) != 0) {
      bytes[size++] = (byte) (rest | 0x80);
      rest >>>= 7;
    }
    bytes[size++] = (byte) rest;
  }

  /** Appends the {@code count} lower bytes of a value, the lowest first. */
  public void rawFixed(long value, int count) {
    room(count);
    for (int i = 0; i < count; i++) {
      bytes[size++] = (byte) (value >>> (8 * i));
    }
  }

  /** Appends a text after its length in four bytes, the lowest first. */
  public void rawString(String value) {
    var text = value.getBytes(StandardCharsets.UTF_8);
    rawFixed(text.length, Integer.BYTES);
    room(text.length);
    System.arraycopy(text, 0, bytes, size, text.length);
    size += text.length;
  }

  private void tag(int field, int wireType) {
    rawVarint(field << 3 | wireType);
  }

  private static int varintBytes(int value) {
    int count = 1;
    for (int rest = value >>> 7; rest != 0; rest >>>= 7) {
      count++;
    }
    return count;
  }

  private void room(int more) {
    if (bytes.length - size < more) {
      bytes = Arrays.copyOf(bytes, Math.max(bytes.length * 2, Math.addExact(size, more)));
    }
  }
}
