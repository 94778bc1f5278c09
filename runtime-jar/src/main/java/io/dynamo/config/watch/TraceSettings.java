package io.dynamo.config.watch;

import java.net.URI;
import java.time.Duration;
import java.util.Map;

/**
 * Where spans go. Keys: {@code dynamo.trace.*}.
 *
 * @param export whether there are any
 * @param endpoint takes OTLP over HTTP, as protobuf
 * @param headers sent with each export; they may hold credentials
 * @param timeout of an export
 * @param sampleRatio of the traces that begin here, 0 to 1; others are as their caller decided
 */
public record TraceSettings(
    boolean export,
    URI endpoint,
    Map<String, String> headers,
    Duration timeout,
    String serviceName,
    double sampleRatio) {
  public TraceSettings {
    headers = Map.copyOf(headers);
  }

  /** Without the headers' values. */
  @Override
  public String toString() {
    return "TraceSettings[export=%s, endpoint=%s, headers=%s, timeout=%s, serviceName=%s, sampleRatio=%s]"
        .formatted(export, endpoint, headers.keySet(), timeout, serviceName, sampleRatio);
  }
}
