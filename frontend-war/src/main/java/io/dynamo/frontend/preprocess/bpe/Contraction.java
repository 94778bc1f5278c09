package io.dynamo.frontend.preprocess.bpe;

/** The English contractions of the patterns: {@code 's 't 're 've 'm 'll 'd}. Stateless. */
final class Contraction {
  private Contraction() {}

  /**
   * The length of the contraction at {@code from}, where an apostrophe stands, or 0.
   *
   * @param anyCase whether capitals are taken, too
   */
  static int length(String text, int from, int to, boolean anyCase) {
    char first = letter(text, from + 1, to, anyCase);
    char second = letter(text, from + 2, to, anyCase);
    return switch (first) {
      case 's', 't', 'm', 'd' -> 2;
      case 'r', 'v' -> second == 'e' ? 3 : 0;
      case 'l' -> second == 'l' ? 3 : 0;
      default -> 0;
    };
  }

  private static char letter(String text, int at, int to, boolean anyCase) {
    if (at >= to) {
      return 0;
    }
    char c = text.charAt(at);
    if (!anyCase) {
      return c;
    }
    // as Unicode folds it: the long s is an s
    return c == '\u017f' ? 's' : c >= 'A' && c <= 'Z' ? (char) (c + 'a' - 'A') : c;
  }
}
