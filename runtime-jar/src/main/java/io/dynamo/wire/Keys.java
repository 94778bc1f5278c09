package io.dynamo.wire;

import java.nio.charset.StandardCharsets;
import java.util.Arrays;
import java.util.List;

/** The field names of one map, recognized in the bytes without creating a string per field. */
public final class Keys {
  /** No key is left. */
  public static final int END = -1;

  /** A key that is not among the names. */
  public static final int UNKNOWN = -2;

  private final String[] names;
  private final byte[][] utf8;

  /** One name at its position. */
  public record Entry(int index, String name) {}

  /** Pairs the constant that a {@code switch} uses with the name on the wire. */
  public static Entry entry(int index, String name) {
    return new Entry(index, name);
  }

  /**
   * Creates the names of one map. Their positions count from 0 without a gap.
   *
   * @throws IllegalArgumentException when two names have one position, or a position has none
   */
  public Keys(Entry... entries) {
    this(namesInOrder(entries));
    expect(names);
  }

  /**
   * Makes names of fields cheap to read in JSON. For names that nearly all messages of a format
   * have, and never for those that a sender chooses: all messages share the table.
   */
  public static void expect(String... names) {
    MessageJson.FACTORY.addNames(List.of(names));
  }

  private static String[] namesInOrder(Entry... entries) {
    var names = new String[entries.length];
    for (var entry : entries) {
      if (entry.index < 0 || entry.index >= names.length || names[entry.index] != null) {
        throw new IllegalArgumentException(
            "key \"%s\" has position %d of %d, which is outside or taken"
                .formatted(entry.name, entry.index, names.length));
      }
      names[entry.index] = entry.name;
    }
    return names;
  }

  /**
   * Creates the names of one map, or words of one set, at the positions in which they are given.
   */
  public Keys(String... names) {
    this.names = names;
    utf8 = new byte[names.length][];
    for (int i = 0; i < names.length; i++) {
      utf8[i] = names[i].getBytes(StandardCharsets.UTF_8);
    }
  }

  /** Returns the number of names. */
  public int size() {
    return names.length;
  }

  public String name(int index) {
    return names[index];
  }

  /** Whether {@code name} is one of the names. */
  public boolean has(String name) {
    return indexOf(name) != UNKNOWN;
  }

  int indexOf(String name) {
    for (int i = 0; i < names.length; i++) {
      if (names[i].equals(name)) {
        return i;
      }
    }
    return UNKNOWN;
  }

  /**
   * Returns the position of a name, or {@link #UNKNOWN}.
   *
   * @param bytes contains the name at {@code from}
   * @param expected position to compare first: maps mostly come in the order of the names
   */
  int indexOf(byte[] bytes, int from, int length, int expected) {
    for (int i = 0; i < utf8.length; i++) {
      int at = expected + i < utf8.length ? expected + i : expected + i - utf8.length;
      if (Arrays.equals(utf8[at], 0, utf8[at].length, bytes, from, from + length)) {
        return at;
      }
    }
    return UNKNOWN;
  }
}
