package io.dynamo.config.watch;

import java.nio.file.Path;
import java.time.Duration;
import java.util.Set;
import org.jspecify.annotations.Nullable;

/**
 * The records that finished requests leave. Keys: {@code dynamo.frontend.request-trace.*}.
 *
 * @param records the kinds that are written; empty for none
 * @param sinks where records go; empty when none are written
 * @param filePath the beginning of the files' names
 * @param flushInterval the longest time that a record waits for others before it is in the file
 * @param rollBytes of a file before compression, after which the next one begins
 * @param rollLines of a file, after which the next one begins; null for no bound
 * @param maxFiles the newest files that are kept
 * @param capacity records that may wait to be written; more are lost
 * @param headers the names, in lower case, of the request headers that payloads repeat
 * @param maxPayloadBytes of a recorded request, and of a recorded answer
 * @param servers that records may go to
 * @param tools where uses of tools are reported; null for nowhere
 */
public record RequestTraceSettings(
    Set<Kind> records,
    Set<Sink> sinks,
    Path filePath,
    FileFormat fileFormat,
    Duration flushInterval,
    long rollBytes,
    @Nullable Integer rollLines,
    int maxFiles,
    int capacity,
    Set<String> headers,
    int maxPayloadBytes,
    RecordSinkSettings servers,
    @Nullable ToolEventSettings tools) {
  /** The content of a record. */
  public enum Kind {
    /** Of a finished generation: its tokens, times and workers, and no text. */
    REQUEST_END,
    /** Of a finished generation: the request and the answer, with their texts. */
    REQUEST_PAYLOAD,
    /** Of a tool's use, as the program reports it that used the tool. */
    TOOL
  }

  /** Where records go. */
  public enum Sink {
    FILE,
    STDERR,
    NATS,
    OTEL,
    S3
  }

  /** The form of files: a JSON object on each line, compressed or not. */
  public enum FileFormat {
    JSONL,
    JSONL_GZ
  }

  public RequestTraceSettings {
    records = Set.copyOf(records);
    sinks = Set.copyOf(sinks);
    headers = Set.copyOf(headers);
  }
}
