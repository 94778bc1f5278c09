package io.dynamo.frontend.preprocess.bpe;

/**
 * Classifies characters as the pattern of the Kimi models does, by flags that can come together.
 * The classes are those that {@code tiktoken} finds itself, recorded in {@code kimi-classes.txt}.
 */
final class KimiClasses {
  static final byte HAN = 1;
  static final byte UPPER = 1 << 1; // a letter or mark that is not Han and not small
  static final byte LOWER = 1 << 2; // one that is not Han and not a capital
  static final byte LETTER = 1 << 3;
  static final byte NUMBER = 1 << 4;
  static final byte SPACE = 1 << 5;

  private static final CharTable TABLE =
      CharTable.read("kimi-classes.txt", "HUDLNS", HAN, UPPER, LOWER, LETTER, NUMBER, SPACE);

  private KimiClasses() {}

  static int of(int codePoint) {
    return TABLE.of(codePoint);
  }
}
