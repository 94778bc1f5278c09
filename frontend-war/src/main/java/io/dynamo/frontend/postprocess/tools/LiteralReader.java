package io.dynamo.frontend.postprocess.tools;

import java.util.HexFormat;

/**
 * Translates values in Python's or Gemma's notation to JSON. For one thread and one text, which may
 * still be growing.
 */
final class LiteralReader {
  /** Signals that the text ends before the value does. */
  static final class IncompleteException extends Exception {
    private static final long serialVersionUID = 1;

    IncompleteException() {
      super("the text ends too early", null, false, false);
    }
  }

  /** Signals that the text is no such value. */
  static final class InvalidException extends Exception {
    private static final long serialVersionUID = 1;

    InvalidException() {
      super("not a value", null, false, false);
    }
  }

  private static final int MAX_DEPTH = 64;

  private final CharSequence text;
  private final String quote; // a longer quotation mark without escapes, empty for none
  private int at;

  /**
   * @param at where to begin
   * @param quote a quotation mark of the family's own, between which nothing is escaped; then keys
   *     and words need no quotes. Empty for none
   */
  LiteralReader(CharSequence text, int at, String quote) {
    this.text = text;
    this.at = at;
    this.quote = quote;
  }

  int at() {
    return at;
  }

  /** The next character that is no space; not taken. */
  char peek() throws IncompleteException {
    while (at < text.length() && Character.isWhitespace(text.charAt(at))) {
      at++;
    }
    return charAt(at);
  }

  /** Takes the next character that is no space if it is {@code c}. */
  boolean take(char c) throws IncompleteException {
    if (peek() != c) {
      return false;
    }
    at++;
    return true;
  }

  /** Takes {@code c}. */
  void expect(char c) throws IncompleteException, InvalidException {
    if (!take(c)) {
      throw new InvalidException();
    }
  }

  /** Takes a name. */
  String name() throws IncompleteException, InvalidException {
    char first = peek();
    if (!isWord(first) || (first >= '0' && first <= '9') || first == '-' || first == '.') {
      throw new InvalidException();
    }
    return word();
  }

  /** Takes a value and appends its JSON. */
  void value(StringBuilder json, int depth) throws IncompleteException, InvalidException {
    char c = peek();
    if (depth > MAX_DEPTH) {
      throw new InvalidException();
    }
    if (isQuote()) {
      json.append(JsonFragments.quoted(quoted()));
    } else if (c == '"' || c == '\'') {
      json.append(JsonFragments.quoted(string()));
    } else if (c == '[' || c == '(') {
      list(c == '[' ? ']' : ')', json, depth);
    } else if (c == '{') {
      object(json, depth);
    } else if (isWord(c)) {
      var word = word();
      var value = JsonScanner.word(word);
      if (value == null && quote.isEmpty()) {
        throw new InvalidException();
      }
      json.append(value == null ? JsonFragments.quoted(word) : value);
    } else {
      throw new InvalidException();
    }
  }

  /** Takes an object and appends its JSON. */
  void object(StringBuilder json, int depth) throws IncompleteException, InvalidException {
    expect('{');
    json.append('{');
    for (boolean first = true; !take('}'); first = false) {
      if (!first) {
        expect(',');
        if (take('}')) {
          break;
        }
        json.append(',');
      }
      char c = peek();
      var key = isQuote() ? quoted() : c == '"' || c == '\'' ? string() : bareKey();
      json.append(JsonFragments.quoted(key)).append(':');
      expect(':');
      value(json, depth + 1);
    }
    json.append('}');
  }

  private void list(char end, StringBuilder json, int depth)
      throws IncompleteException, InvalidException {
    at++;
    json.append('[');
    for (boolean first = true; !take(end); first = false) {
      if (!first) {
        expect(',');
        if (take(end)) {
          break;
        }
        json.append(',');
      }
      value(json, depth + 1);
    }
    json.append(']');
  }

  private String bareKey() throws IncompleteException, InvalidException {
    if (quote.isEmpty()) {
      throw new InvalidException();
    }
    return name();
  }

  private String word() throws IncompleteException, InvalidException {
    int from = at;
    while (isWord(charAt(at))) {
      at++;
    }
    if (from == at) {
      throw new InvalidException();
    }
    return text.subSequence(from, at).toString();
  }

  private boolean isQuote() throws IncompleteException {
    if (quote.isEmpty() || text.charAt(at) != quote.charAt(0)) {
      return false;
    }
    for (int i = 1; i < quote.length(); i++) {
      if (charAt(at + i) != quote.charAt(i)) {
        return false;
      }
    }
    return true;
  }

  private String quoted() throws IncompleteException {
    int from = at + quote.length();
    int end = from;
    while (!isQuoteAt(end)) {
      charAt(end++);
    }
    at = end + quote.length();
    return text.subSequence(from, end).toString();
  }

  private boolean isQuoteAt(int index) {
    for (int i = 0; i < quote.length(); i++) {
      if (index + i >= text.length() || text.charAt(index + i) != quote.charAt(i)) {
        return false;
      }
    }
    return true;
  }

  private String string() throws IncompleteException {
    char mark = text.charAt(at++);
    var value = new StringBuilder();
    for (char c = charAt(at); c != mark; c = charAt(at)) {
      at++;
      if (c != '\\') {
        value.append(c);
        continue;
      }
      char escaped = charAt(at++);
      switch (escaped) {
        case 'n' -> value.append('\n');
        case 'r' -> value.append('\r');
        case 't' -> value.append('\t');
        case '\\', '\'', '"' -> value.append(escaped);
        case 'u', 'x' -> hex(escaped == 'u' ? 4 : 2, escaped, value);
        default -> value.append('\\').append(escaped);
      }
    }
    at++;
    return value.toString();
  }

  private void hex(int digits, char kind, StringBuilder value) throws IncompleteException {
    int unit = 0;
    for (int i = 0; i < digits; i++) {
      char digit = charAt(at + i);
      if (!HexFormat.isHexDigit(digit)) {
        value.append('\\').append(kind);
        return;
      }
      unit = unit * 16 + HexFormat.fromHexDigit(digit);
    }
    at += digits;
    value.append((char) unit);
  }

  private char charAt(int index) throws IncompleteException {
    if (index >= text.length()) {
      throw new IncompleteException();
    }
    return text.charAt(index);
  }

  private static boolean isWord(char c) {
    return c == '_' || c == '-' || c == '+' || c == '.' || Character.isLetterOrDigit(c);
  }
}
