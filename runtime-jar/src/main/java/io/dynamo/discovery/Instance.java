package io.dynamo.discovery;

import io.dynamo.net.PayloadFormat;
import org.jspecify.annotations.Nullable;

/**
 * One process that serves an endpoint.
 *
 * @param deviceType {@code cpu} or {@code cuda}, null when unknown
 * @param format the encoding of its request bodies
 */
public record Instance(
    EndpointId endpoint,
    InstanceId id,
    TransportAddress transport,
    @Nullable String deviceType,
    PayloadFormat format)
    implements DiscoveryRecord {
  public static final String BUCKET = "v1/instances";

  @Override
  public String bucket() {
    return BUCKET;
  }

  @Override
  public String key() {
    return endpoint + "/" + id.hex();
  }
}
