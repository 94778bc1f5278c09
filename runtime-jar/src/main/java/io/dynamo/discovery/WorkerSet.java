package io.dynamo.discovery;

import io.dynamo.model.ModelCard;
import org.jspecify.annotations.Nullable;

/**
 * Workers that can take each other's place: they serve one model at one endpoint, and their cards
 * agree on how text becomes tokens and tokens become blocks. Several sets may share an endpoint.
 *
 * @param model the name that clients use; for an adapter, the adapter's
 * @param tokenizer checksum of the tokenizer; null when the card names none
 * @param template checksum of the chat template's file; null when there is none
 * @param blockTokens tokens per KV block
 */
public record WorkerSet(
    EndpointId endpoint,
    String model,
    @Nullable String tokenizer,
    @Nullable String template,
    int blockTokens) {
  /** The set of the workers of {@code endpoint} that have this card. */
  public static WorkerSet of(EndpointId endpoint, ModelCard card) {
    return new WorkerSet(
        endpoint,
        card.displayName(),
        card.tokenizer() == null ? null : card.tokenizer().checksum(),
        card.chatTemplate() == null ? null : card.chatTemplate().checksum(),
        card.blockTokens());
  }

  /** The set of the worker that wrote {@code record}. */
  public static WorkerSet of(ModelRecord record) {
    return of(record.endpoint(), record.card());
  }

  /** The model and where it is served. */
  @Override
  public String toString() {
    return model + " at " + endpoint;
  }
}
