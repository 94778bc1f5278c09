package io.dynamo.frontend.postprocess;

import io.dynamo.model.vocabulary.TokenTable;

/**
 * Decodes a stream of token ids to text, whole characters only: the bytes of a character that spans
 * tokens wait until it is complete. Invalid UTF-8 becomes U+FFFD, one for each maximal part of a
 * character, as when the whole is decoded at once. For one thread.
 */
public final class IncrementalDetokenizer {
  private static final char REPLACEMENT = '\uFFFD';

  private final TokenTable table;
  private final boolean skipSpecialTokens;
  private boolean begun;

  /** The code point under construction, and the continuation bytes it still needs. */
  private int codePoint;

  private int needed;

  /** Bounds of the next continuation byte: narrower after E0, ED, F0 and F4. */
  private int lower = 0x80;

  private int upper = 0xBF;

  /**
   * Creates a decoder for text that continues a prompt: its first token keeps the space that
   * SentencePiece drops at the start of a text.
   *
   * @param skipSpecialTokens whether special tokens are left out of the text
   */
  public IncrementalDetokenizer(TokenTable table, boolean skipSpecialTokens) {
    this(table, skipSpecialTokens, false);
  }

  /**
   * @param begins whether the tokens begin a text, and do not go on after a prompt
   */
  public IncrementalDetokenizer(TokenTable table, boolean skipSpecialTokens, boolean begins) {
    this.table = table;
    this.skipSpecialTokens = skipSpecialTokens;
    this.begun = !begins;
  }

  /** Appends the characters that {@code id} completes to {@code out}. */
  public void append(int id, StringBuilder out) {
    if (skipSpecialTokens && table.isSpecial(id)) {
      return;
    }
    var bytes = table.bytes(id);
    if (!begun && bytes.length > 0) {
      begun = true;
      bytes = table.firstBytes(id);
    }
    for (byte b : bytes) {
      accept(b & 0xFF, out);
    }
  }

  /** Ends the text: an incomplete character comes out as one U+FFFD. */
  public void finish(StringBuilder out) {
    if (needed > 0) {
      expectStart();
      out.append(REPLACEMENT);
    }
  }

  private void accept(int b, StringBuilder out) {
    if (needed > 0) {
      if (b >= lower && b <= upper) {
        codePoint = (codePoint << 6) | (b & 0x3F);
        lower = 0x80;
        upper = 0xBF;
        if (--needed == 0) {
          out.appendCodePoint(codePoint);
        }
        return;
      }
      expectStart();
      out.append(REPLACEMENT);
    }
    start(b, out);
  }

  private void start(int b, StringBuilder out) {
    if (b < 0x80) {
      out.append((char) b);
    } else if (b >= 0xC2 && b <= 0xDF) {
      codePoint = b & 0x1F;
      needed = 1;
    } else if (b >= 0xE0 && b <= 0xEF) {
      codePoint = b & 0x0F;
      needed = 2;
      lower = b == 0xE0 ? 0xA0 : 0x80;
      upper = b == 0xED ? 0x9F : 0xBF;
    } else if (b >= 0xF0 && b <= 0xF4) {
      codePoint = b & 0x07;
      needed = 3;
      lower = b == 0xF0 ? 0x90 : 0x80;
      upper = b == 0xF4 ? 0x8F : 0xBF;
    } else {
      out.append(REPLACEMENT);
    }
  }

  private void expectStart() {
    needed = 0;
    lower = 0x80;
    upper = 0xBF;
  }
}
