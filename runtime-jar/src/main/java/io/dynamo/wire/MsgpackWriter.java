package io.dynamo.wire;

import java.math.BigInteger;
import java.nio.ByteBuffer;
import java.nio.charset.StandardCharsets;
import java.util.Arrays;
import java.util.UUID;
import org.jspecify.annotations.Nullable;

/**
 * Writes MessagePack, integers in the shortest form. Written by hand because an item is sent per
 * token: a packer of the library costs more than the item.
 *
 * @see <a href="https://github.com/msgpack/msgpack/blob/master/spec.md">the format</a>
 */
final class MsgpackWriter implements WireWriter {
  /** The initial room for an item; a token item takes 110 bytes. */
  static final int ITEM_BYTES = 128;

  /** The most memory kept from one value to the next. */
  private static final int MOST_BYTES = 8 * 1024;

  private byte[] bytes;
  private int length;
  private @Nullable ByteBuffer view; // of bytes, once asked for

  MsgpackWriter(int firstBytes) {
    bytes = new byte[firstBytes];
  }

  /** Starts another value in the same memory. */
  void reset() {
    length = 0;
    if (bytes.length > MOST_BYTES) {
      bytes = new byte[ITEM_BYTES];
      view = null;
    }
  }

  /** Returns the written bytes, valid until the next {@link #reset}. */
  ByteBuffer written() {
    var all = view;
    if (all == null) {
      all = ByteBuffer.wrap(bytes);
      view = all;
    }
    return all.clear().limit(length);
  }

  @Override
  public void beginMap(int size) {
    sized(size, MsgpackType.FIXED_MAP, 16, MsgpackType.MAP_16, MsgpackType.MAP_32);
  }

  @Override
  public void endMap() {}

  @Override
  public void beginArray(int size) {
    sized(size, MsgpackType.FIXED_ARRAY, 16, MsgpackType.ARRAY_16, MsgpackType.ARRAY_32);
  }

  @Override
  public void endArray() {}

  private void sized(int size, int fixed, int fixedBelow, int small, int large) {
    if (size < fixedBelow) {
      put(fixed | size);
    } else if (size < 1 << 16) {
      put(small, size, 2);
    } else {
      put(large, size, 4);
    }
  }

  @Override
  public void key(String name) {
    string(name);
  }

  @Override
  public void string(String value) {
    int count = value.length();
    for (int i = 0; i < count; i++) {
      if (value.charAt(i) >= 0x80) {
        var utf8 = value.getBytes(StandardCharsets.UTF_8);
        stringHeader(utf8.length);
        append(utf8);
        return;
      }
    }
    stringHeader(count);
    reserve(count);
    for (int i = 0; i < count; i++) {
      bytes[length++] = (byte) value.charAt(i);
    }
  }

  private void stringHeader(int count) {
    if (count >= 32 && count < 1 << 8) {
      put(MsgpackType.STRING_8, count, 1);
    } else {
      sized(count, MsgpackType.FIXED_STRING, 32, MsgpackType.STRING_16, MsgpackType.STRING_32);
    }
  }

  @Override
  public void integer(long value) {
    if (value >= -32 && value < 128) {
      put((int) value);
    } else if (value >= 0) {
      if (value < 1 << 8) {
        put(MsgpackType.UNSIGNED_8, value, 1);
      } else if (value < 1 << 16) {
        put(MsgpackType.UNSIGNED_16, value, 2);
      } else if (value < 1L << 32) {
        put(MsgpackType.UNSIGNED_32, value, 4);
      } else {
        put(MsgpackType.UNSIGNED_64, value, 8);
      }
    } else if (value >= Byte.MIN_VALUE) {
      put(MsgpackType.SIGNED_8, value, 1);
    } else if (value >= Short.MIN_VALUE) {
      put(MsgpackType.SIGNED_16, value, 2);
    } else if (value >= Integer.MIN_VALUE) {
      put(MsgpackType.SIGNED_32, value, 4);
    } else {
      put(MsgpackType.SIGNED_64, value, 8);
    }
  }

  /**
   * @throws IllegalArgumentException when the value takes more than 64 bits
   */
  @Override
  public void integer(BigInteger value) {
    if (value.bitLength() < Long.SIZE) {
      integer(value.longValue());
    } else if (value.bitLength() == Long.SIZE && value.signum() > 0) {
      put(MsgpackType.UNSIGNED_64, value.longValue(), 8);
    } else {
      throw new IllegalArgumentException(
          "an integer of %d bits has no MessagePack form".formatted(value.bitLength()));
    }
  }

  @Override
  public void unsigned(long value) {
    if (value >= 0) {
      integer(value);
    } else {
      put(MsgpackType.UNSIGNED_64, value, 8);
    }
  }

  @Override
  public void float32(float value) {
    put(MsgpackType.FLOAT_32, Float.floatToIntBits(value), 4);
  }

  @Override
  public void float64(double value) {
    put(MsgpackType.FLOAT_64, Double.doubleToLongBits(value), 8);
  }

  @Override
  public void bool(boolean value) {
    put(value ? MsgpackType.TRUE : MsgpackType.FALSE);
  }

  @Override
  public void binary(byte[] value) {
    if (value.length < 1 << 8) {
      put(MsgpackType.BINARY_8, value.length, 1);
    } else if (value.length < 1 << 16) {
      put(MsgpackType.BINARY_16, value.length, 2);
    } else {
      put(MsgpackType.BINARY_32, value.length, 4);
    }
    append(value);
  }

  @Override
  public void uuid(UUID value) {
    binary(
        ByteBuffer.allocate(2 * Long.BYTES)
            .putLong(value.getMostSignificantBits())
            .putLong(value.getLeastSignificantBits())
            .array());
  }

  @Override
  public void nil() {
    put(MsgpackType.NIL);
  }

  @Override
  public byte[] finish() {
    return Arrays.copyOf(bytes, length);
  }

  private void put(int single) {
    reserve(1);
    bytes[length++] = (byte) single;
  }

  /** Writes a type and the lowest {@code count} bytes of {@code value}, big-endian. */
  private void put(int type, long value, int count) {
    reserve(1 + count);
    bytes[length++] = (byte) type;
    for (int shift = (count - 1) * 8; shift >= 0; shift -= 8) {
      bytes[length++] = (byte) (value >>> shift);
    }
  }

  private void append(byte[] all) {
    reserve(all.length);
    System.arraycopy(all, 0, bytes, length, all.length);
    length += all.length;
  }

  private void reserve(int more) {
    int needed = Math.addExact(length, more);
    if (needed > bytes.length) {
      bytes =
          Arrays.copyOf(
              bytes, (int) Math.min(Integer.MAX_VALUE - 8L, Math.max(needed, bytes.length * 2L)));
      view = null;
    }
  }
}
