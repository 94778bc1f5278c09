package io.dynamo.frontend.preprocess.bpe;

import java.io.IOException;
import java.io.InputStream;
import java.io.UncheckedIOException;
import java.nio.charset.StandardCharsets;
import java.util.Arrays;

/** A byte for each character, read from a resource of ranges. Immutable. */
final class CharTable {
  private static final int PAGE_BITS = 8;

  private final byte[][] pages;

  private CharTable(byte[][] pages) {
    this.pages = pages;
  }

  byte of(int codePoint) {
    return pages[codePoint >> PAGE_BITS][codePoint & ((1 << PAGE_BITS) - 1)];
  }

  /**
   * Reads lines of a class's initial and its ranges, in hexadecimal: {@code N 30-39 b2-b3}. A
   * character of several classes has the bits of all.
   *
   * @param initials each stands for its {@code values}
   */
  static CharTable read(String resource, String initials, byte... values) {
    var blank = new byte[1 << PAGE_BITS];
    var pages = new byte[(Character.MAX_CODE_POINT + 1) >> PAGE_BITS][];
    var used = new boolean[pages.length];
    Arrays.fill(pages, blank);
    for (var line : lines(resource)) {
      var fields = line.split(" ", -1);
      int kind = initials.indexOf(fields[0]);
      if (kind < 0) {
        throw new IllegalStateException(resource + " has a class " + fields[0]);
      }
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
          pages[page][c & (blank.length - 1)] |= values[kind];
        }
      }
    }
    return new CharTable(pages);
  }

  private static String[] lines(String resource) {
    try (InputStream in = CharTable.class.getResourceAsStream(resource)) {
      if (in == null) {
        throw new IllegalStateException(resource + " is missing");
      }
      return new String(in.readAllBytes(), StandardCharsets.US_ASCII).split("\n");
    } catch (IOException e) {
      throw new UncheckedIOException(resource, e);
    }
  }
}
