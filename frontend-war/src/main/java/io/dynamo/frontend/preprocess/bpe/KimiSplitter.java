package io.dynamo.frontend.preprocess.bpe;

import static io.dynamo.frontend.preprocess.bpe.KimiClasses.HAN;
import static io.dynamo.frontend.preprocess.bpe.KimiClasses.LETTER;
import static io.dynamo.frontend.preprocess.bpe.KimiClasses.LOWER;
import static io.dynamo.frontend.preprocess.bpe.KimiClasses.NUMBER;
import static io.dynamo.frontend.preprocess.bpe.KimiClasses.SPACE;
import static io.dynamo.frontend.preprocess.bpe.KimiClasses.UPPER;

/**
 * Cuts a text as the pattern of the Kimi models does. Chinese characters are apart from all others;
 * a word is capitals and then small letters, with what stands before it and an English contraction;
 * up to three numbers are together. A letter of one case, or a mark, counts for both.
 */
final class KimiSplitter implements Splitter {
  private static final int DIGITS = 3;
  private static final int NONE = -1;

  @Override
  public int end(String text, int from, int to) {
    int c = text.codePointAt(from);
    int kind = KimiClasses.of(c);
    int next = from + Character.charCount(c);
    if ((kind & HAN) != 0) {
      return run(text, next, to, HAN);
    }
    boolean leads = (kind & (LETTER | NUMBER)) == 0 && !CharClasses.isNewline(c);
    int word = leads ? word(text, next, to, true) : NONE;
    word = word == NONE ? word(text, from, to, true) : word;
    word = word == NONE && leads ? word(text, next, to, false) : word;
    word = word == NONE ? word(text, from, to, false) : word;
    if (word != NONE) {
      return word;
    }
    if ((kind & NUMBER) != 0) {
      return numbers(text, next, to);
    }
    int rest = c == ' ' ? others(text, next, to) : next;
    if ((kind & SPACE) != 0 && rest == next) {
      return space(text, from, to);
    }
    int end = others(text, rest, to);
    while (end < to && CharClasses.isNewline(text.charAt(end))) {
      end++;
    }
    return end;
  }

  /**
   * The end of the word at {@code from}: capitals, then small letters if there are any.
   *
   * @param needsSmall whether there must be some; the capitals give back what may be small
   * @return {@link #NONE} when there is no such word
   */
  private static int word(String text, int from, int to, boolean needsSmall) {
    int lastSmall = NONE; // the end of the last of the capitals that may be small
    int at = from;
    while (at < to) {
      int c = text.codePointAt(at);
      int kind = KimiClasses.of(c);
      if ((kind & UPPER) == 0) {
        break;
      }
      at += Character.charCount(c);
      lastSmall = (kind & LOWER) != 0 ? at : lastSmall;
    }
    int end = run(text, at, to, LOWER);
    if (needsSmall && end == at) {
      end = lastSmall;
    } else if (!needsSmall && at == from) {
      end = NONE;
    }
    return end != NONE && end < to && text.charAt(end) == '\''
        ? end + Contraction.length(text, end, to, true)
        : end;
  }

  private static int numbers(String text, int from, int to) {
    int at = from;
    for (int i = 1; i < DIGITS && at < to; i++) {
      int c = text.codePointAt(at);
      if ((KimiClasses.of(c) & NUMBER) == 0) {
        break;
      }
      at += Character.charCount(c);
    }
    return at;
  }

  /** White space up to its last newline; else all but the last before something; else all. */
  private static int space(String text, int from, int to) {
    int end = run(text, from, to, SPACE);
    for (int i = end; i > from; i--) {
      if (CharClasses.isNewline(text.charAt(i - 1))) {
        return i;
      }
    }
    return end == to || end - from == 1 ? end : end - 1; // every white space is one char
  }

  private static int run(String text, int from, int to, int kind) {
    int at = from;
    while (at < to) {
      int c = text.codePointAt(at);
      if ((KimiClasses.of(c) & kind) == 0) {
        break;
      }
      at += Character.charCount(c);
    }
    return at;
  }

  /** The end of what is neither letter, number nor white space. */
  private static int others(String text, int from, int to) {
    int at = from;
    while (at < to) {
      int c = text.codePointAt(at);
      if ((KimiClasses.of(c) & (LETTER | NUMBER | SPACE)) != 0) {
        break;
      }
      at += Character.charCount(c);
    }
    return at;
  }
}
