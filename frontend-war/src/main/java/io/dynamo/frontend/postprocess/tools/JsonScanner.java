package io.dynamo.frontend.postprocess.tools;

import java.util.HexFormat;
import java.util.Set;
import org.jspecify.annotations.Nullable;

/**
 * Copies one JSON value character by character so that the copy can be closed to valid JSON at any
 * time: a comma, a key and a number wait until the value they belong to is certain. Repairs common
 * faults of models: raw line breaks in strings, unknown escapes, trailing commas, Python's {@code
 * True}, {@code False} and {@code None}. For one thread.
 */
final class JsonScanner {
  /** The result of reading a character. */
  enum Step {
    /** Taken; the value goes on. */
    MORE,
    /** Taken; the value is complete. */
    DONE,
    /** Not taken: the value was complete before it. */
    ENDED,
    /** Not taken: it is invalid here. */
    BAD
  }

  private enum State {
    VALUE,
    FIRST_ITEM,
    FIRST_KEY,
    NEXT_KEY,
    KEY,
    COLON,
    STRING,
    SCALAR,
    AFTER,
    END
  }

  private static final int MAX_DEPTH = 256;
  private static final Set<String> WORDS = Set.of("true", "false", "null");

  private final boolean compact;
  private final StringBuilder open = new StringBuilder(); // the brackets that are open
  private final StringBuilder held = new StringBuilder(); // comma, key and colon of the next value
  private final StringBuilder scalar = new StringBuilder();
  private final StringBuilder escape = new StringBuilder();
  private State state = State.VALUE;

  /**
   * @param compact whether space between values is left out
   */
  JsonScanner(boolean compact) {
    this.compact = compact;
  }

  /** Reads a character and appends the output that is certain by then to {@code out}. */
  Step accept(char c, StringBuilder out) {
    return switch (state) {
      case STRING, KEY -> string(c, out);
      case SCALAR -> scalar(c, out);
      default -> isSpace(c) ? space(c) : structure(c, out);
    };
  }

  /** Whether the value is complete, or would be if no character followed. */
  boolean complete() {
    return state == State.END
        || (state == State.SCALAR && open.isEmpty() && word(scalar.toString()) != null);
  }

  /** Ends a value that is cut off: closes open parts and drops keys without a value. */
  void close(StringBuilder out) {
    if (state == State.STRING) {
      escape.setLength(0);
      out.append('"');
    } else if (state == State.SCALAR && word(scalar.toString()) != null) {
      out.append(held).append(word(scalar.toString()));
    } else if (state == State.VALUE && open.isEmpty()) {
      out.append("null");
    }
    held.setLength(0);
    for (int i = open.length() - 1; i >= 0; i--) {
      out.append(open.charAt(i) == '{' ? '}' : ']');
    }
    open.setLength(0);
    state = State.END;
  }

  private Step space(char c) {
    if (!compact && !(state == State.VALUE && open.isEmpty())) {
      held.append(c);
    }
    return Step.MORE;
  }

  private Step structure(char c, StringBuilder out) {
    return switch (state) {
      case FIRST_KEY, NEXT_KEY -> key(c, out);
      case COLON -> colon(c);
      case VALUE, FIRST_ITEM -> value(c, out);
      case AFTER -> after(c, out);
      default -> Step.BAD;
    };
  }

  private Step key(char c, StringBuilder out) {
    if (c == '"') {
      held.append(c);
      state = State.KEY;
      return Step.MORE;
    }
    return c == '}' ? shut('{', out) : Step.BAD;
  }

  private Step colon(char c) {
    if (c != ':') {
      return Step.BAD;
    }
    held.append(c);
    state = State.VALUE;
    return Step.MORE;
  }

  private Step value(char c, StringBuilder out) {
    if (c == '"') {
      release(out).append(c);
      state = State.STRING;
    } else if (c == '{' || c == '[') {
      if (open.length() == MAX_DEPTH) {
        return Step.BAD;
      }
      release(out).append(c);
      open.append(c);
      state = c == '{' ? State.FIRST_KEY : State.FIRST_ITEM;
    } else if (c == ']' && !open.isEmpty() && open.charAt(open.length() - 1) == '[') {
      return shut('[', out);
    } else if (isScalar(c)) {
      scalar.setLength(0);
      scalar.append(c);
      state = State.SCALAR;
    } else {
      return Step.BAD;
    }
    return Step.MORE;
  }

  private Step after(char c, StringBuilder out) {
    if (c == ',') {
      held.append(c);
      state = open.charAt(open.length() - 1) == '{' ? State.NEXT_KEY : State.VALUE;
      return Step.MORE;
    }
    return c == '}' ? shut('{', out) : c == ']' ? shut('[', out) : Step.BAD;
  }

  private Step shut(char bracket, StringBuilder out) {
    if (open.charAt(open.length() - 1) != bracket) {
      return Step.BAD;
    }
    int comma = held.indexOf(",");
    if (comma >= 0) {
      held.deleteCharAt(comma); // a trailing one
    }
    release(out).append(bracket == '{' ? '}' : ']');
    open.setLength(open.length() - 1);
    return valueEnds();
  }

  private Step valueEnds() {
    state = open.isEmpty() ? State.END : State.AFTER;
    return open.isEmpty() ? Step.DONE : Step.MORE;
  }

  private Step scalar(char c, StringBuilder out) {
    if (isScalar(c)) {
      scalar.append(c);
      return Step.MORE;
    }
    var word = word(scalar.toString());
    if (word == null) {
      return Step.BAD;
    }
    release(out).append(word);
    if (valueEnds() == Step.DONE) {
      return Step.ENDED;
    }
    return accept(c, out);
  }

  private Step string(char c, StringBuilder out) {
    var to = state == State.KEY ? held : out;
    if (!escape.isEmpty()) {
      return escaped(c, to);
    } else if (c == '\\') {
      escape.append(c);
    } else if (c == '"') {
      to.append(c);
      if (state == State.KEY) {
        state = State.COLON;
      } else {
        return valueEnds();
      }
    } else {
      JsonFragments.escape(c, to);
    }
    return Step.MORE;
  }

  private Step escaped(char c, StringBuilder to) {
    if (escape.length() == 1 && c != 'u') {
      if ("\"\\/bfnrt".indexOf(c) >= 0) {
        to.append('\\').append(c);
      } else if (c == '\'') {
        to.append(c);
      } else { // a backslash that was meant as one
        to.append("\\\\");
        JsonFragments.escape(c, to);
      }
      escape.setLength(0);
    } else if (escape.length() == 1 || HexFormat.isHexDigit(c)) {
      escape.append(c);
      if (escape.length() == 6) {
        to.append(escape);
        escape.setLength(0);
      }
    } else { // no four digits: plain text after all
      to.append('\\').append(escape);
      escape.setLength(0);
      return string(c, to);
    }
    return Step.MORE;
  }

  private StringBuilder release(StringBuilder out) {
    out.append(held);
    held.setLength(0);
    return out;
  }

  private static boolean isSpace(char c) {
    return c == ' ' || c == '\n' || c == '\r' || c == '\t';
  }

  private static boolean isScalar(char c) {
    return (c >= '0' && c <= '9')
        || (c >= 'a' && c <= 'z')
        || (c >= 'A' && c <= 'Z')
        || c == '-'
        || c == '+'
        || c == '.';
  }

  /** The JSON of a number or word, or null when it is none. */
  static @Nullable String word(String text) {
    return switch (text) {
      case "True" -> "true";
      case "False" -> "false";
      case "None" -> "null";
      default -> WORDS.contains(text) || JsonFragments.isNumber(text) ? text : null;
    };
  }
}
