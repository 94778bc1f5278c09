package io.dynamo.frontend.watch;

import io.dynamo.config.watch.ConsoleLog;
import io.dynamo.config.watch.ConsoleLogSettings;
import java.io.FileDescriptor;
import java.io.FileOutputStream;
import java.io.OutputStream;
import java.time.InstantSource;
import java.time.temporal.ChronoUnit;
import java.util.function.Consumer;
import org.jspecify.annotations.Nullable;

/**
 * Prints a line for each finished request on the console: as text, or as JSON with the names of
 * Dynamo's log. Safe for concurrent use.
 */
public final class RequestConsole implements AutoCloseable {
  /** Prints nothing. */
  static final RequestConsole OFF =
      new RequestConsole(ConsoleLog.OFF, 0, null, InstantSource.system());

  private static final int SERVER_FAULT = 500;
  private static final int FAULT = 400;

  private final ConsoleLog format;
  private final int leastStatus;
  private final @Nullable ConsoleLines lines;
  private final InstantSource clock;

  RequestConsole(
      ConsoleLog format, int leastStatus, @Nullable ConsoleLines lines, InstantSource clock) {
    this.format = format;
    this.leastStatus = leastStatus;
    this.lines = lines;
    this.clock = clock;
  }

  /**
   * Opens the console of this process. It is written directly: the container would put what is
   * printed into its own log, too, where the lines are already.
   */
  public static RequestConsole open(ConsoleLogSettings settings) {
    return settings.format() == ConsoleLog.OFF
        ? OFF
        : of(settings, new FileOutputStream(FileDescriptor.out), InstantSource.system());
  }

  static RequestConsole of(ConsoleLogSettings settings, OutputStream console, InstantSource clock) {
    return new RequestConsole(
        settings.format(), settings.leastStatus(), new ConsoleLines(console), clock);
  }

  /** Whether a request with this status leaves a line. */
  boolean takes(int status) {
    return lines != null && status >= leastStatus;
  }

  /**
   * Prints a line.
   *
   * @param fields adds what is known of the request
   */
  void print(int status, Consumer<RequestLog.Line> fields) {
    if (lines == null) {
      return;
    }
    var time = clock.instant().truncatedTo(ChronoUnit.MILLIS).toString();
    if (format == ConsoleLog.JSON) {
      var line =
          RequestLog.Line.json()
              .put("time", time)
              .put("level", level(status))
              .put("target", RequestLog.LOGGER)
              .put("message", "request");
      fields.accept(line);
      lines.write(line.toString());
    } else {
      var line = RequestLog.Line.pairs();
      fields.accept(line);
      lines.write(time + " " + level(status) + " request " + line);
    }
  }

  private static String level(int status) {
    return status >= SERVER_FAULT ? "ERROR" : status >= FAULT ? "WARN" : "INFO";
  }

  /** Prints the lines that wait, for a second at most. */
  @Override
  public void close() {
    if (lines != null) {
      lines.close();
    }
  }
}
