package io.dynamo.frontend.admission;

import java.nio.charset.StandardCharsets;

/**
 * Estimates the memory of a JSON text once it is parsed, in one pass and without parsing it. The
 * estimate is an upper bound for well-formed text and arbitrary for other text. For one thread.
 */
public final class JsonCost {
  // a node of the tree, and the maps and records that are made of it
  private static final int CONTAINER_BYTES = 320;
  private static final int STRING_BYTES = 64;
  private static final int ITEM_BYTES = 48;
  private static final int MEMBER_BYTES = 64;

  private static final int INNER_CHARS = 8 * 1024; // scanned at once

  private static final int FIRST_WIDE = 0xC4; // the first byte of U+0100 and all beyond

  private long length;
  private long stringBytes;
  private long nodeBytes;
  private boolean inString;
  private boolean escaped;
  private boolean wide; // the string holds a character that takes two bytes, or may
  private long chars; // of the string

  /** The cost of a message that is no JSON: as much as that of one JSON string of its length. */
  public static JsonCost ofBytes(long bytes) {
    var cost = new JsonCost();
    cost.length = bytes;
    cost.stringBytes = bytes;
    return cost;
  }

  /** The cost of a message that is no JSON, before what is made of its parts. */
  public static JsonCost ofForm(long bytes) {
    var cost = new JsonCost();
    cost.length = bytes;
    return cost;
  }

  /** The cost of a message that is no JSON and is kept as it is. */
  public static JsonCost ofKept(long bytes) {
    var cost = new JsonCost();
    cost.length = bytes;
    cost.addKept(bytes);
    return cost;
  }

  /** Adds bytes of the message that are kept as they are. */
  public void addKept(long bytes) {
    nodeBytes += bytes;
  }

  /**
   * Adds a member whose value is a string that stands in the message in another form.
   *
   * @param bytes of its name and value in memory
   */
  public void addMember(long bytes) {
    nodeBytes += MEMBER_BYTES + STRING_BYTES;
    stringBytes += bytes;
  }

  /**
   * Scans the next bytes of the text: the first {@code count} of {@code piece}. A further text may
   * follow.
   */
  public void add(byte[] piece, int count) {
    length += count;
    for (int i = 0; i < count; i++) {
      byte next = piece[i];
      if (inString) {
        addToString(next);
      } else {
        addStructure(next);
      }
    }
  }

  /**
   * Adds a JSON text that stands in a string of this one and will be parsed, too; the string itself
   * is counted already.
   */
  public void addInner(String text) {
    long outer = length;
    for (int at = 0; at < text.length(); at += INNER_CHARS) {
      var piece =
          text.substring(at, Math.min(text.length(), at + INNER_CHARS))
              .getBytes(StandardCharsets.UTF_8);
      add(piece, piece.length);
    }
    length = outer;
    inString = false; // it may break off
    escaped = false;
  }

  private void addToString(byte next) {
    if (escaped) {
      escaped = false;
      wide |= next == 'u';
    } else if (next == '\\') {
      escaped = true;
      return;
    } else if (next == '"') {
      inString = false;
      stringBytes += wide ? 2 * chars : chars;
      return;
    }
    int unit = next & 0xff;
    wide |= unit >= FIRST_WIDE;
    chars += (unit & 0xC0) == 0x80 ? 0 : unit >= 0xF0 ? 2 : 1;
  }

  private void addStructure(byte next) {
    switch (next) {
      case '"' -> {
        inString = true;
        wide = false;
        chars = 0;
        nodeBytes += STRING_BYTES;
      }
      case '{', '[' -> nodeBytes += CONTAINER_BYTES;
      case ',' -> nodeBytes += ITEM_BYTES;
      case ':' -> nodeBytes += MEMBER_BYTES;
      default -> {}
    }
  }

  /** Bytes of the text itself. */
  public long length() {
    return length;
  }

  /** Bytes of the strings and values that are kept after parsing. */
  public long keptBytes() {
    return stringBytes + nodeBytes;
  }

  /**
   * The peak while the text is parsed or a prompt is rendered and encoded: the raw bytes, their
   * text, a string being built, the parsed strings, the growing prompt.
   */
  public long workBytes() {
    return 2 * length + 5 * stringBytes + nodeBytes;
  }
}
