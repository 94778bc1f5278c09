package io.dynamo.frontend.preprocess.jinja;

import io.dynamo.frontend.preprocess.jinja.Token.Kind;
import java.util.List;

/** Reads a template's tokens in order. For one thread. */
class TokenCursor {
  private final List<Token> tokens;
  private int at;

  TokenCursor(List<Token> tokens) {
    this.tokens = tokens;
  }

  Token current() {
    return tokens.get(at);
  }

  /** Where the current token is, for {@link #mentions}. */
  int position() {
    return at;
  }

  /** Whether {@code name} was read from {@code position} on. */
  boolean mentions(String name, int position) {
    return tokens.subList(position, at).stream().anyMatch(token -> token.isName(name));
  }

  Token following() {
    return tokens.get(at + 1);
  }

  Token next() {
    return tokens.get(at++);
  }

  boolean skipOperator(String operator) {
    boolean there = current().isOperator(operator);
    at += there ? 1 : 0;
    return there;
  }

  boolean skipName(String name) {
    boolean there = current().isName(name);
    at += there ? 1 : 0;
    return there;
  }

  void expectOperator(String operator) {
    if (!skipOperator(operator)) {
      throw error("expected '" + operator + "'");
    }
  }

  void expectName(String name) {
    if (!skipName(name)) {
      throw error("expected '" + name + "'");
    }
  }

  String name() {
    if (current().kind() != Kind.NAME) {
      throw error("expected a name");
    }
    return next().text();
  }

  JinjaException error(String message) {
    var token = current();
    var found = token.kind() == Kind.END ? "the end" : "'" + token.text() + "'";
    return new JinjaException(message + ", found " + found + " (line " + token.line() + ")");
  }
}
