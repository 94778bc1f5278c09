package io.dynamo.frontend.catalog;

import io.dynamo.discovery.EndpointId;
import io.dynamo.discovery.WorkerSet;
import io.dynamo.frontend.preprocess.ModelText;
import io.dynamo.model.ModelCard;
import io.dynamo.model.ModelCardSum;
import org.jspecify.annotations.Nullable;

/**
 * A model as one set of workers serves it. Several sets may serve one name.
 *
 * @param checksum of the card, which every request to a worker carries
 * @param workers the set that serves it
 * @param createdAtSeconds when this frontend first saw it, UNIX time
 */
public record ServedModel(
    ModelCard card, String checksum, WorkerSet workers, ModelText text, long createdAtSeconds) {
  /** Creates the model of {@code card}, whose checksum is computed here, as a set serves it. */
  public ServedModel(ModelCard card, WorkerSet workers, ModelText text, long createdAtSeconds) {
    this(card, ModelCardSum.of(card), workers, text, createdAtSeconds);
  }

  /** Creates the model of {@code card} as the workers of {@code endpoint} serve it. */
  public ServedModel(ModelCard card, EndpointId endpoint, ModelText text, long createdAtSeconds) {
    this(card, WorkerSet.of(endpoint, card), text, createdAtSeconds);
  }

  public String name() {
    return card.displayName();
  }

  /** Returns the name under which workers know this adapter; null for a base model. */
  public @Nullable String adapter() {
    var lora = card.lora();
    return lora == null ? null : lora.name();
  }

  /**
   * Whether the workers of {@code other} can continue a generation of this model: its tokens must
   * mean the same to both.
   */
  boolean sharesTokensWith(ServedModel other) {
    var tokenizer = workers.tokenizer();
    return tokenizer != null && tokenizer.equals(other.workers.tokenizer());
  }
}
