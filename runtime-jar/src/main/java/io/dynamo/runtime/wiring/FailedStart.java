package io.dynamo.runtime.wiring;

import io.dynamo.config.SettingSources;
import io.dynamo.config.key.InvalidSettingsException;
import java.lang.System.Logger.Level;
import java.util.LinkedHashSet;
import java.util.List;
import java.util.function.Function;
import org.eclipse.microprofile.config.ConfigProvider;
import org.jspecify.annotations.Nullable;

/**
 * Ends the process of a server that cannot start with its settings: prints one page of reasons and
 * exits with a status. A container would continue without its application, with its ports open.
 * Safe for concurrent use.
 */
final class FailedStart {
  private static final System.Logger LOG = System.getLogger(FailedStart.class.getName());

  /** Exit status for refused settings: {@code EX_CONFIG} of sysexits.h. */
  static final int REFUSED = 78;

  /** Exit status for any other failure. */
  static final int FAILED = 1;

  /** Ends the process. */
  @FunctionalInterface
  interface ProcessEnd {
    /** Shows {@code page} and ends with {@code status}; does not return, except in tests. */
    void end(String page, int status);
  }

  private final Function<String, List<String>> origins;
  private final ProcessEnd process;

  /**
   * @param origins returns the sources of the settings that a text names
   */
  FailedStart(Function<String, List<String>> origins, ProcessEnd process) {
    this.origins = origins;
    this.process = process;
  }

  /** Returns the instance that ends this process. */
  static FailedStart ofServer() {
    return new FailedStart(
        text -> new SettingSources(ConfigProvider.getConfig()).namedIn(text), FailedStart::halt);
  }

  /**
   * Halts without the container's orderly stop, which would wait for the application's start, in
   * which this is called. Standard error is shown at every log level, and kept in the log as well.
   */
  private static void halt(String page, int status) {
    System.err.println(page);
    System.err.flush();
    Runtime.getRuntime().halt(status);
  }

  /** Reports why the server does not start and ends the process. */
  void end(Throwable failure) {
    var refusal = refusal(failure);
    String reason;
    if (refusal != null) {
      reason = String.valueOf(refusal.getMessage());
    } else {
      LOG.log(Level.INFO, "why the server does not start", failure); // with its stack, for the log
      reason = messages(failure) + "; logs/messages.log has the details";
    }
    int status = refusal == null ? FAILED : REFUSED;
    var page = new StringBuilder("%nThe server does not start: %s%n".formatted(reason));
    var set = origins(reason);
    if (!set.isEmpty()) {
      page.append(System.lineSeparator());
      set.forEach(line -> page.append("%s%n".formatted(line)));
    }
    page.append("%nThe process ends with status %d.%n".formatted(status));
    process.end(page.toString(), status);
  }

  private List<String> origins(String reason) {
    try {
      return origins.apply(reason);
    } catch (RuntimeException e) {
      LOG.log(Level.INFO, "the origins of the settings are not known", e);
      return List.of(); // reporting the reason is more important
    }
  }

  private static @Nullable InvalidSettingsException refusal(Throwable failure) {
    for (var at = failure; at != null; at = at.getCause()) {
      if (at instanceof InvalidSettingsException refusal) {
        return refusal;
      }
    }
    return null;
  }

  /** Collects the messages of a failure and of its causes, each once. */
  private static String messages(Throwable failure) {
    var messages = new LinkedHashSet<String>();
    for (var at = failure; at != null; at = at.getCause()) {
      var message = at.getMessage();
      messages.add(message == null ? at.getClass().getName() : message);
    }
    return String.join(": ", messages);
  }
}
