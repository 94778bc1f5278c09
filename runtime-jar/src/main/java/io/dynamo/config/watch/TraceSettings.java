package io.dynamo.config.watch;

import java.net.URI;
import java.time.Duration;
import java.util.Map;

/**
 * The settings for exporting spans. Keys: {@code dynamo.trace.*}.
 *
 * @param export whether spans are exported
 * @param endpoint takes OTLP over HTTP, as protobuf
 * @param headers sent with each export; they may hold credentials
 * @param timeout of an export
 * @param sampleRatio share of the traces started here that are sampled, 0 to 1; other traces follow
 *     their caller's decision
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

  /** Returns a text without the headers' values. */
  @Override
  public String toString() {
    return "TraceSettings[export=%s, endpoint=%s, headers=%s, timeout=%s, serviceName=%s, sampleRatio=%s]"
        .formatted(export, endpoint, headers.keySet(), timeout, serviceName, sampleRatio);
  }
}
