package io.dynamo.event.codec;

import java.util.Arrays;

/** Writes the few msgpack types of an envelope. One use, one thread. */
final class EnvelopeWriter {
  private final byte[] bytes;
  private int length;

  /**
   * @param prefixBytes left free in front
   * @param maxBytes at most written behind them
   */
  EnvelopeWriter(int prefixBytes, int maxBytes) {
    this.bytes = new byte[Math.addExact(prefixBytes, maxBytes)];
    this.length = prefixBytes;
  }

  void map(int entries) {
    bytes[length++] = (byte) (0x80 | entries);
  }

  void string(byte[] utf8) {
    if (utf8.length < 32) {
      bytes[length++] = (byte) (0xa0 | utf8.length);
    } else if (utf8.length < 1 << 8) {
      put(0xd9, utf8.length, 1);
    } else if (utf8.length < 1 << 16) {
      put(0xda, utf8.length, 2);
    } else {
      put(0xdb, utf8.length, 4);
    }
    append(utf8);
  }

  void binary(byte[] value) {
    if (value.length < 1 << 8) {
      put(0xc4, value.length, 1);
    } else if (value.length < 1 << 16) {
      put(0xc5, value.length, 2);
    } else {
      put(0xc6, value.length, 4);
    }
    append(value);
  }

  /** An integer of 64 bits without a sign. */
  void unsigned(long value) {
    if (value < 0) {
      put(0xcf, value, 8);
    } else if (value < 128) {
      bytes[length++] = (byte) value;
    } else if (value < 1 << 8) {
      put(0xcc, value, 1);
    } else if (value < 1 << 16) {
      put(0xcd, value, 2);
    } else if (value < 1L << 32) {
      put(0xce, value, 4);
    } else {
      put(0xcf, value, 8);
    }
  }

  private void put(int type, long value, int count) {
    bytes[length++] = (byte) type;
    for (int shift = (count - 1) * 8; shift >= 0; shift -= 8) {
      bytes[length++] = (byte) (value >>> shift);
    }
  }

  private void append(byte[] all) {
    System.arraycopy(all, 0, bytes, length, all.length);
    length += all.length;
  }

  byte[] finish() {
    return length == bytes.length ? bytes : Arrays.copyOf(bytes, length);
  }
}
