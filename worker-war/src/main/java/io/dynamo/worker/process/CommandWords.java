package io.dynamo.worker.process;

import java.util.ArrayList;
import java.util.List;

/** Splits a command into words, with quotes as in a POSIX shell. Nothing is expanded. Stateless. */
public final class CommandWords {
  private CommandWords() {}

  /**
   * Splits at white space outside quotes. Within single quotes every character stands for itself,
   * within double quotes a backslash takes the meaning from a quote or a backslash, and elsewhere
   * from any character.
   *
   * @throws IllegalArgumentException when a quote is not closed, or there is no word
   */
  public static List<String> of(String command) {
    var words = new ArrayList<String>();
    var word = new StringBuilder();
    boolean begun = false;
    char quote = 0;
    for (int i = 0; i < command.length(); i++) {
      char c = command.charAt(i);
      if (quote == 0 && Character.isWhitespace(c)) {
        if (begun) {
          words.add(word.toString());
        }
        word.setLength(0);
        begun = false;
        continue;
      }
      begun = true;
      if (quote == 0 && (c == '\'' || c == '"')) {
        quote = c;
      } else if (c == quote) {
        quote = 0;
      } else if (isEscape(command, i, quote)) {
        i++;
        word.append(command.charAt(i));
      } else {
        word.append(c);
      }
    }
    if (quote != 0) {
      throw new IllegalArgumentException("has a quote %s that is not closed".formatted(quote));
    }
    if (begun) {
      words.add(word.toString());
    }
    if (words.isEmpty()) {
      throw new IllegalArgumentException("has no word");
    }
    return words;
  }

  private static boolean isEscape(String command, int at, char quote) {
    if (command.charAt(at) != '\\' || at + 1 == command.length() || quote == '\'') {
      return false;
    }
    char next = command.charAt(at + 1);
    return quote == 0 || next == '"' || next == '\\';
  }
}
