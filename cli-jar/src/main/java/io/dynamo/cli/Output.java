package io.dynamo.cli;

import io.dynamo.json.Json;
import java.io.PrintWriter;
import java.nio.charset.StandardCharsets;
import java.util.List;
import java.util.Map;
import org.jspecify.annotations.Nullable;

/** Writes the result of a command, as lines or as JSON. */
final class Output {
  private Output() {}

  /** Whether a person types and reads, rather than a script. */
  @SuppressWarnings("SystemConsoleNull") // the console of java.base is null where nobody types
  static boolean isTerminal() {
    var console = System.console();
    return console != null && console.isTerminal();
  }

  /** Writes one line of JSON. */
  static void json(PrintWriter out, Map<String, ? extends @Nullable Object> object) {
    out.println(new String(Json.write(object), StandardCharsets.UTF_8));
  }

  /** Writes rows as columns, each as wide as its widest cell; the first row is the heading. */
  static void table(PrintWriter out, List<List<String>> rows) {
    int columns = rows.getFirst().size();
    int[] widths = new int[columns];
    for (var row : rows) {
      for (int column = 0; column < columns; column++) {
        widths[column] = Math.max(widths[column], row.get(column).length());
      }
    }
    for (var row : rows) {
      var line = new StringBuilder();
      for (int column = 0; column < columns; column++) {
        line.append(row.get(column));
        if (column < columns - 1) {
          line.repeat(' ', widths[column] - row.get(column).length() + 2);
        }
      }
      out.println(line);
    }
  }
}
