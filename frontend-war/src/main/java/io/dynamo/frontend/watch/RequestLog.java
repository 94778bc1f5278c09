package io.dynamo.frontend.watch;

import java.lang.System.Logger.Level;
import java.util.Locale;
import org.jspecify.annotations.Nullable;

/**
 * One line for each finished request, as key=value, to a logger of its own at INFO. Never a text of
 * a client or a model; whatever a client can choose is quoted, so that no value looks like another
 * key or another line. Safe for concurrent use.
 */
final class RequestLog {
  static final String LOGGER = "io.dynamo.frontend.requests";
  private static final System.Logger LOG = System.getLogger(LOGGER);
  private static final int LONGEST = 256; // characters of one value
  private static final double NANOS_PER_MILLI = 1e6;

  private RequestLog() {}

  static boolean isOn() {
    return LOG.isLoggable(Level.INFO);
  }

  static void write(String line) {
    LOG.log(Level.INFO, "{0}", line); // as an argument: a brace in it means nothing
  }

  /** A line under construction, as {@code key=value} pairs or as a JSON object. For one thread. */
  static final class Line {
    private final StringBuilder text = new StringBuilder(256);
    private final boolean json;

    private Line(boolean json) {
      this.json = json;
    }

    /** Begins a line of {@code key=value} pairs. */
    static Line pairs() {
      return new Line(false);
    }

    /** Begins a JSON object. */
    static Line json() {
      return new Line(true);
    }

    /** Adds a value; null leaves the key out. */
    Line put(String key, @Nullable String value) {
      if (value != null) {
        key(key);
        append(value);
      }
      return this;
    }

    Line put(String key, long value) {
      key(key).append(value);
      return this;
    }

    /** Adds a duration in milliseconds with three digits. */
    Line millis(String key, long nanos) {
      key(key).append(String.format(Locale.ROOT, "%.3f", nanos / NANOS_PER_MILLI));
      return this;
    }

    private StringBuilder key(String key) {
      return json
          ? text.append(text.isEmpty() ? "{\"" : ",\"").append(key).append("\":")
          : text.append(text.isEmpty() ? "" : " ").append(key).append('=');
    }

    private void append(String value) {
      var shown = value.length() > LONGEST ? value.substring(0, LONGEST) : value;
      if (!json && !shown.isEmpty() && shown.chars().allMatch(RequestLog::isPlain)) {
        text.append(shown);
        return;
      }
      text.append('"');
      shown.chars().forEach(this::appendQuoted);
      text.append('"');
    }

    private void appendQuoted(int unit) {
      if (unit == '"' || unit == '\\') {
        text.append('\\').append((char) unit);
      } else if (unit < ' ' || unit > '~') {
        text.append(String.format(Locale.ROOT, "\\u%04x", unit));
      } else {
        text.append((char) unit);
      }
    }

    @Override
    public String toString() {
      return json ? text + "}" : text.toString();
    }
  }

  /** Matches values that need no quotes: printable ASCII without space, equals sign and quote. */
  private static boolean isPlain(int unit) {
    return unit > ' ' && unit <= '~' && unit != '=' && unit != '"' && unit != '\\';
  }
}
