package io.dynamo.discovery;

import io.dynamo.model.ModelCard;
import java.util.TreeSet;
import org.jspecify.annotations.Nullable;

/**
 * A set of workers that can take each other's place: they serve one model at one endpoint in one
 * role, and their cards agree on the APIs, and on how text becomes tokens and tokens become blocks.
 * Several sets may share an endpoint, and several may serve one model.
 *
 * @param model the name that clients use; for an adapter, the adapter's
 * @param tokenizer checksum of the tokenizer; null when the card names none
 * @param template checksum of the chat template's file; null when there is none
 * @param blockTokens tokens per KV block
 * @param workerType {@code aggregated}, {@code prefill}, {@code decode} or {@code encode}
 * @param modelTypes flags of the card, sorted and joined by {@code |}
 */
public record WorkerSet(
    EndpointId endpoint,
    String model,
    @Nullable String tokenizer,
    @Nullable String template,
    int blockTokens,
    String workerType,
    String modelTypes) {
  /** A set of aggregated workers whose cards name no API. */
  public WorkerSet(
      EndpointId endpoint,
      String model,
      @Nullable String tokenizer,
      @Nullable String template,
      int blockTokens) {
    this(endpoint, model, tokenizer, template, blockTokens, ModelCard.AGGREGATED, "");
  }

  /** Returns the set of the workers of {@code endpoint} that have this card. */
  public static WorkerSet of(EndpointId endpoint, ModelCard card) {
    return new WorkerSet(
        endpoint,
        card.displayName(),
        card.tokenizer() == null ? null : card.tokenizer().checksum(),
        card.chatTemplate() == null ? null : card.chatTemplate().checksum(),
        card.blockTokens(),
        card.effectiveWorkerType(),
        String.join("|", new TreeSet<>(card.modelTypes())));
  }

  /** Returns the set of the worker that wrote {@code record}. */
  public static WorkerSet of(ModelRecord record) {
    return of(record.endpoint(), record.card());
  }

  /**
   * Whether the workers of {@code other} claim the same place: the same model, endpoint, APIs and
   * role. Two such sets differ in their files, so only one of them can be right.
   */
  public boolean competesWith(WorkerSet other) {
    return endpoint.equals(other.endpoint)
        && model.equals(other.model)
        && workerType.equals(other.workerType)
        && modelTypes.equals(other.modelTypes);
  }

  /** Returns the model and the endpoint, for messages. */
  @Override
  public String toString() {
    return model + " at " + endpoint;
  }
}
