package io.dynamo.wire;

import io.dynamo.error.InvalidRequestException;
import io.dynamo.net.PayloadFormat;
import java.io.IOException;
import java.nio.ByteBuffer;
import java.util.List;
import java.util.UUID;
import org.jspecify.annotations.Nullable;

/**
 * Reads one value in either payload format. For one thread, one value. Each method reads the next
 * value; wrong types and truncation end {@link #read}. Allocation is bounded by the bytes present.
 */
public interface WireReader {
  /** The length of a UUID as text. */
  int UUID_CHARS = 36;

  /** Reads a value of one type. */
  interface Shape<T> {
    T read(WireReader in) throws IOException;
  }

  /**
   * Reads the one value that {@code body} contains.
   *
   * @param what its name in the error
   * @throws InvalidRequestException when the bytes are no such value
   */
  static <T> T read(String what, ByteBuffer body, PayloadFormat format, Shape<T> shape) {
    try {
      return read(what, body, format, of(body, format), shape);
    } catch (IOException e) {
      throw unreadable(what, body, format, e);
    }
  }

  /** Reads like the other {@code read}, with a reader positioned at the start of {@code body}. */
  static <T> T read(
      String what, ByteBuffer body, PayloadFormat format, WireReader in, Shape<T> shape) {
    try {
      T value = shape.read(in);
      in.end();
      return value;
    } catch (IOException | ArithmeticException e) {
      throw unreadable(what, body, format, e);
    }
  }

  private static InvalidRequestException unreadable(
      String what, ByteBuffer body, PayloadFormat format, Exception cause) {
    return new InvalidRequestException(
        "the %s of %d bytes is not readable as %s: %s"
            .formatted(what, body.remaining(), format.wireName(), cause.getMessage()));
  }

  static WireReader of(ByteBuffer body, PayloadFormat format) throws IOException {
    return switch (format) {
      case JSON -> new JsonReader(body);
      case MSGPACK -> new MsgpackReader(body);
    };
  }

  /** Whether the next value is null; if so, it is consumed. */
  boolean isNil() throws IOException;

  /** Opens the next value as a map, to be read with {@link #nextKey} until {@link Keys#END}. */
  void beginMap() throws IOException;

  /**
   * Reads a key of the innermost map; returns its index, {@link Keys#UNKNOWN} or {@link Keys#END}.
   */
  int nextKey(Keys keys) throws IOException;

  /** Opens the next value as an array, to be read with {@link #nextElement} until there is none. */
  void beginArray() throws IOException;

  /** Moves to the next element of the innermost array; returns false at its end. */
  boolean nextElement() throws IOException;

  int[] ints() throws IOException;

  List<String> strings() throws IOException;

  String string() throws IOException;

  /** Reads a string; returns its index among {@code words}, or {@link Keys#UNKNOWN}. */
  int word(Keys words) throws IOException;

  long integer() throws IOException;

  /** Reads an unsigned integer of 64 bits, its upper half as negative numbers. */
  long unsigned() throws IOException;

  double number() throws IOException;

  boolean bool() throws IOException;

  /**
   * Reads bytes: an array of numbers from 0 to 255, a string's UTF-8, or binary where the format
   * has it.
   */
  byte[] bytes() throws IOException;

  /** Whether the next value is a map; it is not consumed. */
  boolean isMap() throws IOException;

  /** Reads the next value as JSON types; binary as {@code byte[]}. */
  @Nullable Object any() throws IOException;

  void skip() throws IOException;

  /** Returns the offset of the next value, in bytes from the start of the body. */
  int position() throws IOException;

  /** Returns the end offset of the value that {@link #skip} skipped. */
  int endOfSkipped() throws IOException;

  /** Checks that nothing follows. */
  void end() throws IOException;

  /** Reads a UUID: text in JSON, its 16 bytes in MessagePack. */
  default UUID uuid() throws IOException {
    return switch (any()) {
      case String text when text.length() == UUID_CHARS -> {
        try {
          yield UUID.fromString(text);
        } catch (IllegalArgumentException e) {
          throw new IOException("no UUID", e);
        }
      }
      case byte[] bytes when bytes.length == 2 * Long.BYTES -> {
        var halves = ByteBuffer.wrap(bytes);
        yield new UUID(halves.getLong(), halves.getLong());
      }
      case null, default -> throw new IOException("no UUID");
    };
  }

  /**
   * Reads an element of an array that is read as bytes.
   *
   * @throws IOException when it is no number from 0 to 255
   */
  default byte octet() throws IOException {
    long value = integer();
    if (value < 0 || value > 0xFF) {
      throw new IOException(value + " is no byte");
    }
    return (byte) value;
  }

  default int smallInteger() throws IOException {
    long value = integer();
    if (value != (int) value) {
      throw new IOException("integer " + value + " does not fit 32 bits");
    }
    return (int) value;
  }
}
