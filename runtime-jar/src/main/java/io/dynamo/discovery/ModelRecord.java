package io.dynamo.discovery;

import io.dynamo.model.ModelCard;
import org.jspecify.annotations.Nullable;

/**
 * A model that an instance serves.
 *
 * @param suffix the slug of a LoRA adapter, null for the model itself
 */
public record ModelRecord(
    EndpointId endpoint, InstanceId id, ModelCard card, @Nullable String suffix)
    implements DiscoveryRecord {
  public static final String BUCKET = "v1/mdc";

  @Override
  public String bucket() {
    return BUCKET;
  }

  @Override
  public String key() {
    return endpoint + "/" + id.hex() + (suffix == null ? "" : "/" + suffix);
  }
}
