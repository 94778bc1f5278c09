package io.dynamo.config.watch;

/** The form of the lines that requests leave on the console. */
public enum ConsoleLog {
  /** No lines. */
  OFF,
  /** Time, level and {@code key=value} pairs. */
  TEXT,
  /** A JSON object per line. */
  JSON
}
