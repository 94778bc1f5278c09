package io.dynamo.config.watch;

import java.nio.file.Path;
import java.time.Duration;
import java.util.Set;
import org.jspecify.annotations.Nullable;

/**
 * The records that finished requests leave. Keys: {@code dynamo.frontend.request-trace.*}.
 *
 * @param sinks where records go; empty when none are written
 * @param filePath the beginning of the files' names
 * @param flushInterval the longest time that a record waits for others before it is in the file
 * @param rollBytes of a file before compression, after which the next one begins
 * @param rollLines of a file, after which the next one begins; null for no bound
 * @param maxFiles the newest files that are kept
 * @param capacity records that may wait to be written; more are lost
 */
public record RequestTraceSettings(
    Set<Sink> sinks,
    Path filePath,
    FileFormat fileFormat,
    Duration flushInterval,
    long rollBytes,
    @Nullable Integer rollLines,
    int maxFiles,
    int capacity) {
  /** Where records go. */
  public enum Sink {
    FILE,
    STDERR
  }

  /** The form of files: a JSON object on each line, compressed or not. */
  public enum FileFormat {
    JSONL,
    JSONL_GZ
  }

  public RequestTraceSettings {
    sinks = Set.copyOf(sinks);
  }
}
