package io.dynamo.config.watch;

import static io.dynamo.config.key.Bound.none;
import static io.dynamo.config.key.SettingType.oneOf;

import io.dynamo.config.key.Alias;
import io.dynamo.config.key.KeyList;
import io.dynamo.config.key.KeyReader;
import io.dynamo.config.key.SettingKey;
import java.util.List;
import java.util.Locale;

/** The settings of a server's log, in the order of the documentation. */
public final class LogKeys {
  /** How much is printed; each level includes those before it. */
  enum Level {
    OFF,
    ERROR,
    WARN,
    INFO,
    DEBUG,
    TRACE
  }

  private static final KeyList KEYS = new KeyList();

  static final SettingKey<ConsoleLog> FORMAT =
      KEYS.key(
          "dynamo.log.format",
          oneOf(ConsoleLog.class),
          "text",
          none(),
          "the line that each finished request leaves on the console, without its texts",
          new Alias("DYN_LOGGING_JSONL", "", LogKeys::format));
  static final SettingKey<Level> LEVEL =
      KEYS.key(
          "dynamo.log.level",
          oneOf(Level.class),
          "info",
          none(),
          "which requests leave a line on the console: from `info` on all, at `warn` those that"
              + " failed, at `error` those that failed by this server's fault; of Dynamo's filter"
              + " the part without a target counts",
          new Alias("DYN_LOG", "", LogKeys::level));

  private LogKeys() {}

  public static List<SettingKey<?>> all() {
    return KEYS.all();
  }

  public static ConsoleLogSettings read(KeyReader reader) {
    var level = reader.get(LEVEL);
    return new ConsoleLogSettings(
        level == Level.OFF ? ConsoleLog.OFF : reader.get(FORMAT),
        switch (level) {
          case OFF, ERROR -> 500;
          case WARN -> 400;
          case INFO, DEBUG, TRACE -> 0;
        });
  }

  private static String format(String jsonLines) {
    return switch (jsonLines.toLowerCase(Locale.ROOT)) {
      case "1", "true", "on", "yes" -> "json";
      case "0", "false", "off", "no" -> "text";
      default -> jsonLines;
    };
  }

  /** Returns the level for all targets, of a filter such as {@code info,hyper=warn}. */
  private static String level(String filter) {
    var level = "info";
    for (var part : filter.split(",", -1)) {
      if (!part.contains("=") && !part.isBlank()) {
        level = part.strip().toLowerCase(Locale.ROOT);
      }
    }
    return level;
  }
}
