package io.dynamo.config.watch;

import java.net.URI;
import java.time.Duration;
import org.jspecify.annotations.Nullable;

/**
 * The servers that records of requests may go to. Keys: {@code dynamo.frontend.request-trace.*}.
 *
 * @param natsSubject of the messages
 * @param otelEndpoint takes OpenTelemetry's logs over HTTP, as JSON
 * @param otelMaxPayloadBytes of an exported record; a larger one goes without its texts
 * @param s3 null when no records go there
 */
public record RecordSinkSettings(
    String natsSubject, URI otelEndpoint, int otelMaxPayloadBytes, @Nullable S3Settings s3) {
  /**
   * A bucket of S3.
   *
   * @param prefix of the objects' names, without a slash at its ends; empty for none
   * @param rollBytes of an object before compression, after which it is put
   * @param flushInterval the longest time that a record waits for others
   * @param endpoint of a server other than Amazon's; null for theirs
   * @param sessionToken of temporary credentials; null for others
   */
  public record S3Settings(
      String bucket,
      String region,
      String prefix,
      long rollBytes,
      Duration flushInterval,
      @Nullable URI endpoint,
      String accessKey,
      String secretKey,
      @Nullable String sessionToken) {
    /** Returns a text without credentials. */
    @Override
    public String toString() {
      return "S3Settings[bucket=%s, region=%s, prefix=%s, rollBytes=%d, flushInterval=%s, endpoint=%s]"
          .formatted(bucket, region, prefix, rollBytes, flushInterval, endpoint);
    }
  }
}
