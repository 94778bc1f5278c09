package io.dynamo.frontend.preprocess.jinja;

import io.dynamo.frontend.preprocess.jinja.Token.Kind;
import java.util.ArrayList;
import java.util.List;
import java.util.regex.Pattern;

/**
 * Cuts a template into tokens, white space control done: {@code trim_blocks} takes the newline
 * after a block, {@code lstrip_blocks} the blanks before one, a {@code -} all white space, a {@code
 * +} keeps it. For one thread.
 */
final class Lexer {
  private static final List<String> OPERATORS =
      List.of(
          "**", "//", "==", "!=", "<=", ">=", "+", "-", "*", "/", "%", "~", "[", "]", "(", ")", "{",
          "}", "<", ">", "=", ".", ":", "|", ",");
  private static final Pattern END_RAW = Pattern.compile("\\{%([-+]?)\\s*endraw\\s*([-+]?)%\\}");

  private static final Pattern NUMBER =
      Pattern.compile("[0-9][0-9_]*(\\.[0-9][0-9_]*)?([eE][-+]?[0-9]+)?");

  private final String source;
  private final List<Token> tokens = new ArrayList<>();
  private int at;
  private int line = 1;
  private boolean lineStarting = true;

  private Lexer(String source) {
    this.source = source;
  }

  static List<Token> tokens(String template) {
    var source = template.replace("\r\n", "\n").replace('\r', '\n');
    if (source.endsWith("\n")) {
      source = source.substring(0, source.length() - 1);
    }
    return new Lexer(source).run();
  }

  private List<Token> run() {
    while (at < source.length()) {
      int begin = nextBegin();
      if (begin < 0) {
        data(source.substring(at));
        at = source.length();
        break;
      }
      char kind = source.charAt(begin + 1);
      int after = begin + 2;
      char control = after < source.length() ? source.charAt(after) : ' ';
      boolean controlled = control == '-' || (control == '+' && kind != '{');
      data(before(source.substring(at, begin), controlled ? control : ' ', kind));
      at = controlled ? after + 1 : after;
      switch (kind) {
        case '#' -> comment();
        case '{' -> inside(Kind.OUTPUT_BEGIN, Kind.OUTPUT_END, "}}");
        default -> {
          if (!raw()) {
            inside(Kind.BLOCK_BEGIN, Kind.BLOCK_END, "%}");
          }
        }
      }
    }
    tokens.add(new Token(Kind.END, "", line));
    return tokens;
  }

  private int nextBegin() {
    for (int i = source.indexOf('{', at); i >= 0; i = source.indexOf('{', i + 1)) {
      if (i + 1 < source.length() && "{%#".indexOf(source.charAt(i + 1)) >= 0) {
        return i;
      }
    }
    return -1;
  }

  private String before(String text, char control, char kind) {
    if (control == '-') {
      return text.substring(0, text.length() - Text.trailingSpace(text));
    }
    if (control == '+' || kind == '{') {
      return text;
    }
    int lineStart = text.lastIndexOf('\n') + 1;
    boolean blank = text.length() - Text.trailingSpace(text) <= lineStart;
    return blank && (lineStart > 0 || lineStarting) ? text.substring(0, lineStart) : text;
  }

  private void data(String text) {
    if (!text.isEmpty()) {
      tokens.add(new Token(Kind.DATA, text, line));
    }
  }

  private void comment() {
    int end = source.indexOf("#}", at);
    if (end < 0) {
      throw error("a comment has no end");
    }
    boolean strips = end > at && source.charAt(end - 1) == '-';
    boolean keeps = end > at && source.charAt(end - 1) == '+';
    advance(end + 2);
    afterEnd(strips, !keeps);
  }

  /** A raw block, whose begin has been read up to its name. */
  private boolean raw() {
    var begin =
        Pattern.compile("\\s*raw\\s*([-+]?)%\\}").matcher(source).region(at, source.length());
    if (!begin.lookingAt()) {
      return false;
    }
    advance(begin.end());
    afterEnd(begin.group(1).equals("-"), !begin.group(1).equals("+"));
    var end = END_RAW.matcher(source).region(at, source.length());
    if (!end.find()) {
      throw error("a raw block has no end");
    }
    var control = end.group(1).isEmpty() ? ' ' : end.group(1).charAt(0);
    data(before(source.substring(at, end.start()), control, '%'));
    advance(end.end());
    afterEnd(end.group(2).equals("-"), !end.group(2).equals("+"));
    return true;
  }

  private void afterEnd(boolean strips, boolean trims) {
    int start = at;
    if (strips) {
      while (at < source.length() && Text.isSpace(source.charAt(at))) {
        at++;
      }
    } else if (trims && at < source.length() && source.charAt(at) == '\n') {
      at++;
    }
    count(start, at);
    lineStarting = at > start && source.charAt(at - 1) == '\n';
  }

  private void inside(Kind begin, Kind end, String closer) {
    tokens.add(new Token(begin, "", line));
    int depth = 0;
    while (true) {
      int start = at;
      while (at < source.length() && Text.isSpace(source.charAt(at))) {
        at++;
      }
      count(start, at);
      if (at == source.length()) {
        throw error("a tag has no end");
      }
      if (depth == 0) {
        boolean block = end == Kind.BLOCK_END;
        char c = source.charAt(at);
        boolean controlled = (c == '-' || (c == '+' && block)) && source.startsWith(closer, at + 1);
        if (controlled || source.startsWith(closer, at)) {
          at += controlled ? 3 : 2;
          tokens.add(new Token(end, "", line));
          afterEnd(controlled && c == '-', block && !controlled);
          return;
        }
      }
      depth += token();
    }
  }

  /** Reads one token and returns the change of nesting depth. */
  private int token() {
    char c = source.charAt(at);
    int start = at;
    if (c == '"' || c == '\'') {
      string(c);
      return 0;
    }
    if (c >= '0' && c <= '9') {
      number(start);
      return 0;
    }
    if (c == '_' || Character.isLetter(c)) {
      while (at < source.length() && isNamePart(source.charAt(at))) {
        at++;
      }
      tokens.add(new Token(Kind.NAME, source.substring(start, at), line));
      return 0;
    }
    for (var operator : OPERATORS) {
      if (source.startsWith(operator, at)) {
        at += operator.length();
        tokens.add(new Token(Kind.OPERATOR, operator, line));
        return "([{".contains(operator) ? 1 : ")]}".contains(operator) ? -1 : 0;
      }
    }
    throw error("unexpected character '" + c + "'");
  }

  private void number(int start) {
    var number = NUMBER.matcher(source).region(start, source.length());
    if (!number.lookingAt()) {
      throw error("no number");
    }
    at = number.end();
    boolean integer = number.group(1) == null && number.group(2) == null;
    var text = number.group().replace("_", "");
    tokens.add(new Token(integer ? Kind.INTEGER : Kind.FLOAT, text, line));
  }

  private void string(char quote) {
    var text = new StringBuilder();
    int start = at++;
    while (at < source.length() && source.charAt(at) != quote) {
      char c = source.charAt(at++);
      if (c == '\\' && at < source.length()) {
        at = Text.unescape(source, at, text);
      } else {
        text.append(c);
      }
    }
    if (at == source.length()) {
      throw error("a string has no end");
    }
    at++;
    tokens.add(new Token(Kind.STRING, text.toString(), line));
    count(start, at);
  }

  private static boolean isNamePart(char c) {
    return c == '_' || Character.isLetterOrDigit(c);
  }

  private void advance(int to) {
    count(at, to);
    at = to;
  }

  private void count(int from, int to) {
    for (int i = from; i < to; i++) {
      if (source.charAt(i) == '\n') {
        line++;
      }
    }
  }

  private JinjaException error(String message) {
    return new JinjaException(message + " (line " + line + ")");
  }
}
