package io.dynamo.discovery;

import io.dynamo.json.Json;
import io.dynamo.model.ModelCard;
import java.nio.charset.StandardCharsets;
import java.util.Map;
import java.util.SortedMap;
import java.util.TreeMap;
import java.util.TreeSet;
import org.jspecify.annotations.Nullable;

/**
 * A set of workers that can take each other's place: they serve one model at one endpoint in one
 * role, and their cards agree on the APIs, on how text becomes tokens and tokens become blocks, and
 * on how routers choose among them. Several sets may share an endpoint, and several may serve one
 * model.
 *
 * @param model the name that clients use; for an adapter, the adapter's
 * @param tokenizer checksum of the tokenizer; null when the card names none
 * @param template checksum of the chat template's file; null when there is none
 * @param blockTokens tokens per KV block
 * @param workerType {@code aggregated}, {@code prefill}, {@code decode} or {@code encode}
 * @param modelTypes flags of the card, sorted and joined by {@code |}
 * @param routing the card's {@code router_config} as JSON with sorted keys; null when it has none
 */
public record WorkerSet(
    EndpointId endpoint,
    String model,
    @Nullable String tokenizer,
    @Nullable String template,
    int blockTokens,
    String workerType,
    String modelTypes,
    @Nullable String routing) {
  /** A set of aggregated workers whose cards name no API. */
  public WorkerSet(
      EndpointId endpoint,
      String model,
      @Nullable String tokenizer,
      @Nullable String template,
      int blockTokens) {
    this(endpoint, model, tokenizer, template, blockTokens, ModelCard.AGGREGATED, "", null);
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
        String.join("|", new TreeSet<>(card.modelTypes())),
        card.routerConfig().isEmpty() ? null : sortedJson(card.routerConfig()));
  }

  private static String sortedJson(Map<String, ?> object) {
    return new String(Json.write(sorted(object)), StandardCharsets.UTF_8);
  }

  private static SortedMap<String, @Nullable Object> sorted(Map<?, ?> object) {
    var sorted = new TreeMap<String, @Nullable Object>();
    object.forEach(
        (key, value) ->
            sorted.put(String.valueOf(key), value instanceof Map<?, ?> map ? sorted(map) : value));
    return sorted;
  }

  /** Returns the set of the worker that wrote {@code record}. */
  public static WorkerSet of(ModelRecord record) {
    return of(record.endpoint(), record.card());
  }

  /**
   * Whether the workers of {@code other} claim the same place: the same model, endpoint, APIs and
   * role. Two such sets differ in their files or their routing, so only one of them can be served.
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
