package io.dynamo.frontend.preprocess.jinja;

/**
 * A piece of a template.
 *
 * @param text the characters; a string's without quotes and escapes
 * @param line counted from 1
 */
record Token(Kind kind, String text, int line) {
  enum Kind {
    DATA,
    OUTPUT_BEGIN,
    OUTPUT_END,
    BLOCK_BEGIN,
    BLOCK_END,
    NAME,
    STRING,
    INTEGER,
    FLOAT,
    OPERATOR,
    END
  }

  boolean isOperator(String operator) {
    return kind == Kind.OPERATOR && text.equals(operator);
  }

  boolean isName(String name) {
    return kind == Kind.NAME && text.equals(name);
  }
}
