package io.dynamo.model;

import java.util.Map;
import java.util.Set;
import org.jspecify.annotations.Nullable;

/**
 * What a frontend needs to know of a model to serve it: Dynamo's model deployment card, version
 * 1.6.1.
 *
 * @param displayName the name that clients use
 * @param slug the name reduced to {@code [a-z0-9-_]}
 * @param config {@code config.json}
 * @param tokenizer {@code tokenizer.json}
 * @param tokenizerConfig {@code tokenizer_config.json}
 * @param chatTemplate a template file of its own, when the model has one
 * @param generationConfig {@code generation_config.json}
 * @param contextLength positions; 0 when unknown
 * @param blockTokens {@code kv_cache_block_size}
 * @param migrationLimit informative, as in Dynamo
 * @param modelTypes flags such as {@code Chat}, {@code Completions}
 * @param modelInput {@code Tokens}, {@code Text} or {@code Tensor}
 * @param workerType {@code aggregated}, {@code prefill}, …; null in cards of older workers
 * @param runtimeConfig the engine's limits and switches, values as JSON has them
 */
public record ModelCard(
    String displayName,
    String slug,
    @Nullable String sourcePath,
    @Nullable ModelFile config,
    @Nullable ModelFile tokenizer,
    @Nullable ModelFile tokenizerConfig,
    @Nullable ModelFile chatTemplate,
    @Nullable ModelFile generationConfig,
    int contextLength,
    int blockTokens,
    int migrationLimit,
    Set<String> modelTypes,
    String modelInput,
    @Nullable String workerType,
    Map<String, Object> runtimeConfig) {
  public ModelCard {
    modelTypes = Set.copyOf(modelTypes);
    runtimeConfig = Map.copyOf(runtimeConfig);
  }

  /** Data-parallel ranks of the worker that wrote the card. */
  public int ranks() {
    return runtimeConfig.get("data_parallel_size") instanceof Number size
        ? Math.max(1, size.intValue())
        : 1;
  }
}
