package io.dynamo.frontend.catalog;

import io.dynamo.discovery.EndpointId;
import io.dynamo.discovery.WorkerSet;
import io.dynamo.frontend.preprocess.ModelText;
import io.dynamo.model.ModelCard;
import org.jspecify.annotations.Nullable;

/**
 * A model that can be asked now.
 *
 * @param createdAtSeconds when this frontend first saw it, UNIX time
 */
public record ServedModel(
    ModelCard card, EndpointId endpoint, ModelText text, long createdAtSeconds) {
  public String name() {
    return card.displayName();
  }

  /** Those that serve it. */
  public WorkerSet workers() {
    return WorkerSet.of(endpoint, card);
  }

  /** What workers call the adapter that this is; null for a model itself. */
  public @Nullable String adapter() {
    var lora = card.lora();
    return lora == null ? null : lora.name();
  }
}
