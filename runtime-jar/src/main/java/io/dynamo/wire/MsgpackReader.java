package io.dynamo.wire;

import java.io.IOException;
import java.nio.ByteBuffer;
import java.nio.charset.StandardCharsets;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.List;
import org.jspecify.annotations.Nullable;

/**
 * Reads MessagePack. Announced sizes are checked against the remaining bytes before allocating.
 * Written by hand because an item is read per token: it allocates only the returned values.
 *
 * @see <a href="https://github.com/msgpack/msgpack/blob/master/spec.md">the format</a>
 */
final class MsgpackReader implements WireReader {
  static final int MAX_DEPTH = 64;

  /**
   * The initial room for an array's announced elements; it grows as elements arrive, each of at
   * least a byte.
   */
  static final int MAX_GUESS = 64;

  private static final byte[] NONE = {};

  private byte[] bytes = NONE;
  private int start;
  private int limit;
  private int at;
  private int[] entriesLeft = new int[2]; // of each open map or array
  private int depth;
  private int expectedKey;

  MsgpackReader(ByteBuffer body) {
    reset(body);
  }

  /** Starts reading another value. */
  void reset(ByteBuffer body) {
    depth = 0;
    if (body.hasArray()) {
      bytes = body.array();
      start = body.arrayOffset() + body.position();
    } else {
      bytes = new byte[body.remaining()];
      body.duplicate().get(bytes);
      start = 0;
    }
    at = start;
    limit = start + body.remaining();
  }

  @Override
  public boolean isNil() throws IOException {
    if (peek() != MsgpackType.NIL) {
      return false;
    }
    at++;
    return true;
  }

  @Override
  public boolean isMap() throws IOException {
    return MsgpackType.isMap(peek());
  }

  int peek() throws IOException {
    need(1);
    return bytes[at] & 0xff;
  }

  private int next() throws IOException {
    int type = peek();
    at++;
    return type;
  }

  private void need(long count) throws IOException {
    if (count > limit - at) {
      throw new IOException("truncated at byte " + (limit - start));
    }
  }

  /** Returns the next {@code count} bytes, at most 8, big-endian. */
  private long unsigned(int count) throws IOException {
    need(count);
    long value = 0;
    for (int i = 0; i < count; i++) {
      value = (value << 8) | (bytes[at++] & 0xff);
    }
    return value;
  }

  private long signed(int count) throws IOException {
    int unused = Long.SIZE - 8 * count;
    return (unsigned(count) << unused) >> unused;
  }

  private IOException unexpected(String wanted, int type) {
    return new IOException(
        "type 0x%02x at byte %d is no %s".formatted(type, at - 1 - start, wanted));
  }

  @Override
  public void beginMap() throws IOException {
    open(mapHeader());
    expectedKey = 0;
  }

  @Override
  public void beginArray() throws IOException {
    open(arrayHeader());
  }

  @Override
  public boolean nextElement() {
    if (entriesLeft[depth - 1] == 0) {
      depth--;
      return false;
    }
    entriesLeft[depth - 1]--;
    return true;
  }

  private void open(int size) throws IOException {
    if (depth == MAX_DEPTH) {
      throw new IOException("nested deeper than " + MAX_DEPTH);
    }
    if (depth == entriesLeft.length) {
      entriesLeft = Arrays.copyOf(entriesLeft, depth * 2);
    }
    entriesLeft[depth++] = size;
  }

  int mapHeader() throws IOException {
    int type = next();
    return switch (type) {
      case MsgpackType.MAP_16 -> fitting(unsigned(2), 2);
      case MsgpackType.MAP_32 -> fitting(unsigned(4), 2);
      default -> {
        if (!MsgpackType.isMap(type)) {
          throw unexpected("map", type);
        }
        yield fitting(type & 0x0f, 2);
      }
    };
  }

  int arrayHeader() throws IOException {
    int type = next();
    return switch (type) {
      case MsgpackType.ARRAY_16 -> fitting(unsigned(2), 1);
      case MsgpackType.ARRAY_32 -> fitting(unsigned(4), 1);
      default -> {
        if (!MsgpackType.isArray(type)) {
          throw unexpected("array", type);
        }
        yield fitting(type & 0x0f, 1);
      }
    };
  }

  /**
   * Returns the length of a string; binary is accepted as one, as some writers use nothing else.
   */
  private int stringHeader() throws IOException {
    int type = next();
    return switch (type) {
      case MsgpackType.STRING_8, MsgpackType.BINARY_8 -> fitting(unsigned(1), 1);
      case MsgpackType.STRING_16, MsgpackType.BINARY_16 -> fitting(unsigned(2), 1);
      case MsgpackType.STRING_32, MsgpackType.BINARY_32 -> fitting(unsigned(4), 1);
      default -> {
        if (!MsgpackType.isString(type)) {
          throw unexpected("string", type);
        }
        yield fitting(type & 0x1f, 1);
      }
    };
  }

  private int fitting(long count, int bytesEach) throws IOException {
    if (count > (limit - at) / bytesEach) {
      throw new IOException(
          "%d elements do not fit in the rest of %d bytes".formatted(count, limit - start));
    }
    return (int) count;
  }

  @Override
  public int nextKey(Keys keys) throws IOException {
    if (entriesLeft[depth - 1] == 0) {
      depth--;
      return Keys.END;
    }
    entriesLeft[depth - 1]--;
    if (!MsgpackType.isString(peek())) {
      skip();
      return Keys.UNKNOWN;
    }
    int count = stringHeader();
    int from = at;
    at += count;
    int index = keys.indexOf(bytes, from, count, expectedKey < keys.size() ? expectedKey : 0);
    if (index >= 0) {
      expectedKey = index + 1 < keys.size() ? index + 1 : 0;
    }
    return index;
  }

  @Override
  public int[] ints() throws IOException {
    int count = arrayHeader();
    var values = new int[count];
    for (int i = 0; i < count; i++) {
      values[i] = smallInteger();
    }
    return values;
  }

  @Override
  public List<String> strings() throws IOException {
    int count = arrayHeader();
    List<String> values = new ArrayList<>(Math.min(count, MAX_GUESS));
    for (int i = 0; i < count; i++) {
      values.add(string());
    }
    return values;
  }

  @Override
  public String string() throws IOException {
    int count = stringHeader();
    var value = new String(bytes, at, count, StandardCharsets.UTF_8);
    at += count;
    return value;
  }

  @Override
  public int word(Keys words) throws IOException {
    int count = stringHeader();
    int index = words.indexOf(bytes, at, count, 0);
    at += count;
    return index;
  }

  @Override
  public byte[] bytes() throws IOException {
    if (!MsgpackType.isArray(peek())) {
      return binary();
    }
    var values = new byte[arrayHeader()];
    for (int i = 0; i < values.length; i++) {
      values[i] = octet();
    }
    return values;
  }

  byte[] binary() throws IOException {
    int count = stringHeader();
    var value = Arrays.copyOfRange(bytes, at, at + count);
    at += count;
    return value;
  }

  @Override
  public long integer() throws IOException {
    int type = next();
    return switch (type) {
      case MsgpackType.UNSIGNED_8 -> unsigned(1);
      case MsgpackType.UNSIGNED_16 -> unsigned(2);
      case MsgpackType.UNSIGNED_32 -> unsigned(4);
      case MsgpackType.UNSIGNED_64 -> {
        long value = unsigned(8);
        if (value < 0) {
          throw new IOException(
              "integer " + Long.toUnsignedString(value) + " does not fit 63 bits");
        }
        yield value;
      }
      case MsgpackType.SIGNED_8 -> signed(1);
      case MsgpackType.SIGNED_16 -> signed(2);
      case MsgpackType.SIGNED_32 -> signed(4);
      case MsgpackType.SIGNED_64 -> signed(8);
      default -> {
        if (!MsgpackType.isFixedInteger(type)) {
          throw unexpected("integer", type);
        }
        yield (byte) type;
      }
    };
  }

  @Override
  public long unsigned() throws IOException {
    if (peek() == MsgpackType.UNSIGNED_64) {
      at++;
      return unsigned(8);
    }
    long value = integer();
    if (value < 0) {
      throw new IOException("the negative number " + value + " where none can be");
    }
    return value;
  }

  @Override
  public double number() throws IOException {
    return switch (peek()) {
      case MsgpackType.FLOAT_32 -> float32();
      case MsgpackType.FLOAT_64 -> float64();
      default -> integer();
    };
  }

  float float32() throws IOException {
    at++;
    return Float.intBitsToFloat((int) unsigned(4));
  }

  double float64() throws IOException {
    at++;
    return Double.longBitsToDouble(unsigned(8));
  }

  @Override
  public boolean bool() throws IOException {
    int type = next();
    return switch (type) {
      case MsgpackType.FALSE -> false;
      case MsgpackType.TRUE -> true;
      default -> throw unexpected("boolean", type);
    };
  }

  @Override
  public @Nullable Object any() throws IOException {
    return MsgpackValue.read(this);
  }

  @Override
  public void skip() throws IOException {
    for (long left = 1; left > 0; left--) {
      int type = peek();
      if (MsgpackType.isMap(type)) {
        left += 2L * mapHeader();
      } else if (MsgpackType.isArray(type)) {
        left += arrayHeader();
      } else if (MsgpackType.isString(type) || MsgpackType.isBinary(type)) {
        int count = stringHeader();
        at += count;
      } else {
        at++;
        pass(type);
      }
    }
  }

  /** Skips the bytes after the type of a scalar or an extension. */
  private void pass(int type) throws IOException {
    long count =
        switch (type) {
          case MsgpackType.NIL, MsgpackType.FALSE, MsgpackType.TRUE -> 0;
          case MsgpackType.UNSIGNED_8, MsgpackType.SIGNED_8 -> 1;
          case MsgpackType.UNSIGNED_16, MsgpackType.SIGNED_16 -> 2;
          case MsgpackType.FLOAT_32, MsgpackType.UNSIGNED_32, MsgpackType.SIGNED_32 -> 4;
          case MsgpackType.FLOAT_64, MsgpackType.UNSIGNED_64, MsgpackType.SIGNED_64 -> 8;
          case MsgpackType.FIXED_EXTENSION_1,
              MsgpackType.FIXED_EXTENSION_2,
              MsgpackType.FIXED_EXTENSION_4,
              MsgpackType.FIXED_EXTENSION_8,
              MsgpackType.FIXED_EXTENSION_16 ->
              1 + (1 << (type - MsgpackType.FIXED_EXTENSION_1));
          case MsgpackType.EXTENSION_8 -> 1 + unsigned(1);
          case MsgpackType.EXTENSION_16 -> 1 + unsigned(2);
          case MsgpackType.EXTENSION_32 -> 1 + unsigned(4);
          default -> {
            if (!MsgpackType.isFixedInteger(type)) {
              throw unexpected("value", type);
            }
            yield 0;
          }
        };
    need(count);
    at += (int) count;
  }

  @Override
  public int position() {
    return at - start;
  }

  @Override
  public int endOfSkipped() {
    return position();
  }

  @Override
  public void end() throws IOException {
    if (at != limit) {
      throw new IOException("%d bytes follow the value".formatted(limit - at));
    }
  }
}
