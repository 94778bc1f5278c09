package io.dynamo.pipeline;

import java.util.HashMap;
import java.util.Map;

/**
 * Reads the string fields of one JSON object and skips all others. This module has no JSON library,
 * and a handshake is the only JSON that it must understand.
 */
final class FlatJson {
  private static final int MAX_DEPTH = 32;

  private final String text;
  private int at;

  private FlatJson(String text) {
    this.text = text;
  }

  /** Returns the string fields of the object that {@code text} contains. */
  static Map<String, String> strings(String text) throws FrameException {
    var json = new FlatJson(text);
    var fields = json.object(0);
    if (json.peek() != 0) {
      throw json.unexpected();
    }
    return fields;
  }

  private Map<String, String> object(int depth) throws FrameException {
    Map<String, String> fields = new HashMap<>();
    expect('{');
    if (peek() == '}') {
      at++;
      return fields;
    }
    while (true) {
      if (peek() != '"') {
        throw unexpected();
      }
      var key = string();
      expect(':');
      if (peek() == '"') {
        fields.put(key, string());
      } else {
        skip(depth + 1);
      }
      if (peek() != ',') {
        expect('}');
        return fields;
      }
      at++;
    }
  }

  private void skip(int depth) throws FrameException {
    if (depth > MAX_DEPTH) {
      throw unexpected();
    }
    switch (peek()) {
      case '{' -> object(depth);
      case '[' -> array(depth);
      case '"' -> string();
      default -> scalar();
    }
  }

  private void array(int depth) throws FrameException {
    expect('[');
    if (peek() == ']') {
      at++;
      return;
    }
    while (true) {
      skip(depth + 1);
      if (peek() != ',') {
        expect(']');
        return;
      }
      at++;
    }
  }

  private void scalar() throws FrameException {
    int start = at;
    while (at < text.length() && isScalar(text.charAt(at))) {
      at++;
    }
    if (at == start) {
      throw unexpected();
    }
  }

  private static boolean isScalar(char c) {
    return Character.isLetterOrDigit(c) || "+-.".indexOf(c) >= 0;
  }

  private String string() throws FrameException {
    expect('"');
    var out = new StringBuilder();
    while (at < text.length()) {
      char c = text.charAt(at++);
      if (c == '"') {
        return out.toString();
      }
      out.append(c == '\\' ? escape() : c);
    }
    throw unexpected();
  }

  private char escape() throws FrameException {
    if (at == text.length()) {
      throw unexpected();
    }
    char c = text.charAt(at++);
    return switch (c) {
      case '"', '\\', '/' -> c;
      case 'b' -> '\b';
      case 'f' -> '\f';
      case 'n' -> '\n';
      case 'r' -> '\r';
      case 't' -> '\t';
      case 'u' -> unicode();
      default -> throw unexpected();
    };
  }

  private char unicode() throws FrameException {
    if (at + 4 > text.length()) {
      throw unexpected();
    }
    int value = 0;
    for (int end = at + 4; at < end; at++) {
      int digit = Character.digit(text.charAt(at), 16);
      if (digit < 0) {
        throw unexpected();
      }
      value = value * 16 + digit;
    }
    return (char) value;
  }

  /** Returns the next character that is no white space, or 0 at the end. */
  private char peek() {
    while (at < text.length() && " \t\r\n".indexOf(text.charAt(at)) >= 0) {
      at++;
    }
    return at < text.length() ? text.charAt(at) : 0;
  }

  private void expect(char wanted) throws FrameException {
    if (peek() != wanted) {
      throw unexpected();
    }
    at++;
  }

  private FrameException unexpected() {
    return new FrameException("a header is no JSON object: character " + at);
  }
}
