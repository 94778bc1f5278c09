package io.dynamo.frontend.preprocess;

import static org.assertj.core.api.Assertions.assertThat;

import io.dynamo.frontend.preprocess.bpe.ByteLevelBpe;
import java.io.IOException;
import java.nio.charset.StandardCharsets;
import org.junit.jupiter.api.Test;

/** The committed classes of characters are those of the tokenizer library, for every code point. */
class CharClassesTest {
  /** Turns each character into one that stands for its class, whose id is its place in KINDS. */
  private static final String CLASSIFIER =
      """
      {"normalizer": {"type": "Sequence", "normalizers": [
         {"type": "Replace", "pattern": {"Regex": "[^\\\\p{L}\\\\p{N}\\\\s]"}, "content": "."},
         {"type": "Replace", "pattern": {"Regex": "\\\\p{L}"}, "content": "a"},
         {"type": "Replace", "pattern": {"Regex": "\\\\p{N}"}, "content": "1"},
         {"type": "Replace", "pattern": {"Regex": "\\\\s"}, "content": " "}]},
       "model": {"type": "BPE", "vocab": {".": 0, "a": 1, "1": 2, " ": 3}, "merges": []}}
      """;

  private static final String KINDS = ".LNS";
  private static final int PIECE = 1 << 12;

  @Test
  void areThoseOfTheLibrary() throws IOException {
    try (var in = ByteLevelBpe.class.getResourceAsStream("char-classes.txt")) {
      assertThat(in).isNotNull();
      assertThat(new String(in.readAllBytes(), StandardCharsets.US_ASCII))
          .isEqualTo(lines(kinds()));
    }
  }

  /** The library's class of each code point, except halves of surrogate pairs and NUL. */
  private static byte[] kinds() {
    var kinds = new byte[Character.MAX_CODE_POINT + 1];
    try (var library = new LibraryEncoder(CLASSIFIER)) {
      for (int first = 0; first < kinds.length; first += PIECE) {
        var piece = new StringBuilder();
        var codePoints = new int[PIECE];
        int count = 0;
        for (int c = first; c < first + PIECE; c++) {
          if (c != 0 && (c < Character.MIN_SURROGATE || c > Character.MAX_SURROGATE)) {
            piece.appendCodePoint(c);
            codePoints[count++] = c;
          }
        }
        var ids = library.encode(piece.toString(), Integer.MAX_VALUE);
        assertThat(ids).hasSize(count);
        for (int i = 0; i < count; i++) {
          kinds[codePoints[i]] = (byte) ids[i];
        }
      }
    }
    return kinds;
  }

  private static String lines(byte[] kinds) {
    var lines = new StringBuilder();
    for (byte kind = 1; kind < KINDS.length(); kind++) {
      lines.append(KINDS.charAt(kind));
      for (int first = 0; first < kinds.length; first++) {
        if (kinds[first] == kind) {
          int last = first;
          while (last + 1 < kinds.length && kinds[last + 1] == kind) {
            last++;
          }
          lines.append(' ').append(Integer.toHexString(first)).append('-');
          lines.append(Integer.toHexString(last));
          first = last;
        }
      }
      lines.append('\n');
    }
    return lines.toString();
  }
}
