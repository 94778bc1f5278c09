package io.dynamo.frontend.preprocess.bpe;

import static io.dynamo.frontend.preprocess.bpe.CharClasses.LETTER;
import static io.dynamo.frontend.preprocess.bpe.CharClasses.NUMBER;
import static io.dynamo.frontend.preprocess.bpe.CharClasses.OTHER;
import static io.dynamo.frontend.preprocess.bpe.CharClasses.SPACE;

import java.util.List;
import java.util.Map;
import org.jspecify.annotations.Nullable;

/**
 * Cuts a text into the pieces that are encoded one by one, as the pattern of a pre-tokenizer does
 * but in one pass over the characters. Immutable.
 */
final class PieceSplitter implements Splitter {
  private static final String GPT2 =
      "'s|'t|'re|'ve|'m|'ll|'d| ?\\p{L}+| ?\\p{N}+| ?[^\\s\\p{L}\\p{N}]+|\\s+(?!\\S)|\\s+";
  private static final String CL100K_HEAD =
      "(?i:'s|'t|'re|'ve|'m|'ll|'d)|[^\\r\\n\\p{L}\\p{N}]?\\p{L}+|";
  private static final String CL100K_TAIL =
      "| ?[^\\s\\p{L}\\p{N}]+[\\r\\n]*|\\s*[\\r\\n]+|\\s+(?!\\S)|\\s+";
  private static final Map<String, Integer> DIGITS =
      Map.of("\\p{N}", 1, "\\p{N}{1,3}", 3, "\\p{N}+", Integer.MAX_VALUE);

  private static final PieceSplitter OF_GPT2 = new PieceSplitter(true, Integer.MAX_VALUE);

  private final boolean gpt2;
  private final int digits; // numbers in a piece at most

  private PieceSplitter(boolean gpt2, int digits) {
    this.gpt2 = gpt2;
    this.digits = digits;
  }

  /**
   * The splitter that does as a {@code pre_tokenizer} of {@code tokenizer.json}: GPT-2's own
   * pattern, or that of cl100k with its variants of Llama 3, Qwen 2 and others.
   *
   * @return null when it is none of these
   */
  static @Nullable PieceSplitter of(@Nullable Object preTokenizer) {
    if (!(preTokenizer instanceof Map<?, ?> step)) {
      return null;
    }
    if (isByteLevel(step)) {
      return Boolean.FALSE.equals(step.get("use_regex")) ? null : OF_GPT2;
    }
    if (!"Sequence".equals(step.get("type"))
        || !(step.get("pretokenizers") instanceof List<?> steps)
        || steps.size() != 2
        || !(steps.get(0) instanceof Map<?, ?> split)
        || !(steps.get(1) instanceof Map<?, ?> bytes)
        || !isByteLevel(bytes)
        || !Boolean.FALSE.equals(bytes.get("use_regex"))
        || !"Split".equals(split.get("type"))
        || !"Isolated".equals(split.get("behavior"))
        || !Boolean.FALSE.equals(split.get("invert"))
        || !(split.get("pattern") instanceof Map<?, ?> pattern)
        || !(pattern.get("Regex") instanceof String regex)) {
      return null;
    }
    return ofPattern(regex);
  }

  private static @Nullable PieceSplitter ofPattern(String regex) {
    if (regex.equals(GPT2)) {
      return OF_GPT2;
    }
    if (!regex.startsWith(CL100K_HEAD)
        || !regex.endsWith(CL100K_TAIL)
        || regex.length() < CL100K_HEAD.length() + CL100K_TAIL.length()) {
      return null;
    }
    var digits =
        DIGITS.get(regex.substring(CL100K_HEAD.length(), regex.length() - CL100K_TAIL.length()));
    return digits == null ? null : new PieceSplitter(false, digits);
  }

  private static boolean isByteLevel(Map<?, ?> step) {
    return "ByteLevel".equals(step.get("type"))
        && Boolean.FALSE.equals(step.get("add_prefix_space"));
  }

  @Override
  public int end(String text, int from, int to) {
    int c = text.codePointAt(from);
    int contraction = c == '\'' ? Contraction.length(text, from, to, !gpt2) : 0;
    if (contraction > 0) {
      return from + contraction;
    }
    byte kind = CharClasses.of(c);
    int next = from + Character.charCount(c);
    if (kind == LETTER) {
      return run(text, next, to, LETTER);
    }
    if (kind == NUMBER) {
      return numbers(text, next, to, digits - 1);
    }
    byte after = next < to ? CharClasses.of(text.codePointAt(next)) : SPACE;
    if (after == LETTER && (gpt2 ? c == ' ' : !CharClasses.isNewline(c))) {
      return run(text, next, to, LETTER);
    }
    if (gpt2 && c == ' ' && after == NUMBER) {
      return run(text, next, to, NUMBER);
    }
    if (kind == OTHER || (c == ' ' && after == OTHER)) {
      int end = run(text, next, to, OTHER);
      while (!gpt2 && end < to && CharClasses.isNewline(text.charAt(end))) {
        end++;
      }
      return end;
    }
    return space(text, from, to);
  }

  /** White space up to its last newline; else all but the last before something; else all. */
  private int space(String text, int from, int to) {
    int end = run(text, from, to, SPACE);
    for (int i = end; !gpt2 && i > from; i--) {
      if (CharClasses.isNewline(text.charAt(i - 1))) {
        return i;
      }
    }
    return end == to || end - from == 1 ? end : end - 1; // every white space is one char
  }

  private static int run(String text, int from, int to, byte kind) {
    int at = from;
    while (at < to) {
      int c = text.codePointAt(at);
      if (CharClasses.of(c) != kind) {
        break;
      }
      at += Character.charCount(c);
    }
    return at;
  }

  private static int numbers(String text, int from, int to, int most) {
    int at = from;
    for (int i = 0; i < most && at < to; i++) {
      int c = text.codePointAt(at);
      if (CharClasses.of(c) != NUMBER) {
        break;
      }
      at += Character.charCount(c);
    }
    return at;
  }
}
