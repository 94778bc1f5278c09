package io.dynamo.frontend.preprocess.bpe;

/**
 * Classifies characters as the patterns of tokenizers do: letters, numbers, white space and the
 * rest. The classes are those of the tokenizer library's Unicode version, recorded in {@code
 * char-classes.txt}, not those of the JVM: a letter that only one of them knows would change the
 * tokens.
 */
final class CharClasses {
  static final byte OTHER = 0;
  static final byte LETTER = 1;
  static final byte NUMBER = 2;
  static final byte SPACE = 3;

  private static final CharTable TABLE =
      CharTable.read("char-classes.txt", "LNS", LETTER, NUMBER, SPACE);

  private CharClasses() {}

  static byte of(int codePoint) {
    return TABLE.of(codePoint);
  }

  static boolean isNewline(int codePoint) {
    return codePoint == '\n' || codePoint == '\r';
  }
}
