package io.dynamo.frontend.preprocess.bpe;

import java.io.IOException;
import java.io.InputStream;
import java.io.UncheckedIOException;
import java.nio.charset.StandardCharsets;
import java.util.Arrays;

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

  private static final int PAGE_BITS = 8;
  private static final byte[][] PAGES = read();

  private CharClasses() {}

  static byte of(int codePoint) {
    return PAGES[codePoint >> PAGE_BITS][codePoint & ((1 << PAGE_BITS) - 1)];
  }

  static boolean isNewline(int codePoint) {
    return codePoint == '\n' || codePoint == '\r';
  }

  /** Lines of a class's initial and its ranges, in hexadecimal: {@code N 30-39 b2-b3}. */
  private static byte[][] read() {
    var blank = new byte[1 << PAGE_BITS];
    var pages = new byte[(Character.MAX_CODE_POINT + 1) >> PAGE_BITS][];
    var used = new boolean[pages.length];
    Arrays.fill(pages, blank);
    for (var line : lines()) {
      var fields = line.split(" ", -1);
      byte kind =
          switch (fields[0]) {
            case "L" -> LETTER;
            case "N" -> NUMBER;
            case "S" -> SPACE;
            default -> throw new IllegalStateException("char-classes.txt has a class " + fields[0]);
          };
      for (int i = 1; i < fields.length; i++) {
        int dash = fields[i].indexOf('-');
        int first = Integer.parseInt(fields[i].substring(0, dash), 16);
        int last = Integer.parseInt(fields[i].substring(dash + 1), 16);
        for (int c = first; c <= last; c++) {
          int page = c >> PAGE_BITS;
          if (!used[page]) {
            used[page] = true;
            pages[page] = new byte[1 << PAGE_BITS];
          }
          pages[page][c & (blank.length - 1)] = kind;
        }
      }
    }
    return pages;
  }

  private static String[] lines() {
    try (InputStream in = CharClasses.class.getResourceAsStream("char-classes.txt")) {
      if (in == null) {
        throw new IllegalStateException("char-classes.txt is missing");
      }
      return new String(in.readAllBytes(), StandardCharsets.US_ASCII).split("\n");
    } catch (IOException e) {
      throw new UncheckedIOException("char-classes.txt", e);
    }
  }
}
