package io.dynamo.wire;

import io.dynamo.net.PayloadFormat;
import java.io.IOException;
import java.io.UncheckedIOException;
import java.math.BigInteger;
import java.util.List;
import java.util.Map;
import java.util.UUID;
import org.jspecify.annotations.Nullable;

/** Writes one value in either payload format. For one thread, one value. */
public interface WireWriter {
  /** The initial room, enough for a short request. */
  int FIRST_BYTES = 1024;

  /** Writes a value of one type. */
  interface Shape<T> {
    void write(WireWriter out, T value) throws IOException;
  }

  /** Returns the encoded bytes of {@code value}. */
  static <T> byte[] write(T value, PayloadFormat format, Shape<T> shape) {
    try {
      var out = of(format);
      shape.write(out, value);
      return out.finish();
    } catch (IOException e) {
      throw new UncheckedIOException(e); // memory does no I/O
    }
  }

  static WireWriter of(PayloadFormat format) throws IOException {
    return switch (format) {
      case JSON -> new JsonWriter();
      case MSGPACK -> new MsgpackWriter(FIRST_BYTES);
    };
  }

  /** Opens a map of exactly {@code size} entries. */
  void beginMap(int size) throws IOException;

  void endMap() throws IOException;

  void beginArray(int size) throws IOException;

  void endArray() throws IOException;

  void key(String name) throws IOException;

  void string(String value) throws IOException;

  void integer(long value) throws IOException;

  void integer(BigInteger value) throws IOException;

  /** Writes an unsigned integer of 64 bits, its upper half as negative numbers. */
  void unsigned(long value) throws IOException;

  void float32(float value) throws IOException;

  void float64(double value) throws IOException;

  void bool(boolean value) throws IOException;

  void binary(byte[] value) throws IOException;

  void nil() throws IOException;

  byte[] finish() throws IOException;

  default void ints(int[] values) throws IOException {
    beginArray(values.length);
    for (int value : values) {
      integer(value);
    }
    endArray();
  }

  default void stringOrNil(String name, @Nullable String value) throws IOException {
    key(name);
    if (value == null) {
      nil();
    } else {
      string(value);
    }
  }

  default void integerOrNil(String name, @Nullable Number value) throws IOException {
    key(name);
    if (value == null) {
      nil();
    } else {
      integer(value.longValue());
    }
  }

  default void float32OrNil(String name, @Nullable Float value) throws IOException {
    key(name);
    if (value == null) {
      nil();
    } else {
      float32(value);
    }
  }

  default void boolOrNil(String name, @Nullable Boolean value) throws IOException {
    key(name);
    if (value == null) {
      nil();
    } else {
      bool(value);
    }
  }

  /** Writes a UUID: text in JSON, its 16 bytes in MessagePack. */
  default void uuid(UUID value) throws IOException {
    string(value.toString());
  }

  /** Writes an entry of any value, or nothing for null. */
  default void anyUnlessNull(String name, @Nullable Object value) throws IOException {
    if (value != null) {
      anyOrNil(name, value);
    }
  }

  default void anyOrNil(String name, @Nullable Object value) throws IOException {
    key(name);
    any(value);
  }

  default void nil(String name) throws IOException {
    key(name);
    nil();
  }

  default void strings(List<String> values) throws IOException {
    beginArray(values.size());
    for (var value : values) {
      string(value);
    }
    endArray();
  }

  /**
   * Writes a value of JSON types: maps, lists, strings, numbers, booleans, null; also bytes, and
   * token ids as an array.
   */
  default void any(@Nullable Object value) throws IOException {
    switch (value) {
      case null -> nil();
      case String text -> string(text);
      case Boolean flag -> bool(flag);
      case Float number -> float32(number);
      case Double number -> float64(number);
      case BigInteger number -> integer(number);
      case Number number -> integer(number.longValue());
      case byte[] bytes -> binary(bytes);
      case int[] ids -> ints(ids);
      case Map<?, ?> map -> {
        beginMap(map.size());
        for (var entry : map.entrySet()) {
          key(String.valueOf(entry.getKey()));
          any(entry.getValue());
        }
        endMap();
      }
      case List<?> list -> {
        beginArray(list.size());
        for (var element : list) {
          any(element);
        }
        endArray();
      }
      default ->
          throw new IllegalArgumentException(
              "a %s has no wire form".formatted(value.getClass().getName()));
    }
  }
}
