package io.dynamo.frontend.preprocess;

/** Makes text that every tokenizer accepts. */
final class WellFormed {
  private WellFormed() {}

  /**
   * Returns the text without NUL and with U+FFFD for each half of a surrogate pair that stands
   * alone.
   */
  static String of(String text) {
    int i = 0;
    while (i < text.length() && !needsChange(text, i)) {
      i++;
    }
    if (i == text.length()) {
      return text;
    }
    var changed = new StringBuilder(text.length()).append(text, 0, i);
    for (; i < text.length(); i++) {
      char c = text.charAt(i);
      if (c != 0) {
        changed.append(needsChange(text, i) ? '\uFFFD' : c);
      }
    }
    return changed.toString();
  }

  private static boolean needsChange(String text, int i) {
    char c = text.charAt(i);
    if (Character.isHighSurrogate(c)) {
      return i + 1 == text.length() || !Character.isLowSurrogate(text.charAt(i + 1));
    }
    if (Character.isLowSurrogate(c)) {
      return i == 0 || !Character.isHighSurrogate(text.charAt(i - 1));
    }
    return c == 0;
  }
}
