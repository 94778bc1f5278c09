package io.dynamo.model;

import java.util.Collection;
import java.util.Collections;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.Set;
import java.util.TreeSet;
import java.util.function.UnaryOperator;
import org.jspecify.annotations.Nullable;

/**
 * The description of a model that a frontend needs to serve it: Dynamo's model deployment card,
 * version 1.6.1.
 *
 * @param displayName the name that clients use
 * @param slug the name reduced to {@code [a-z0-9-_]}
 * @param config {@code config.json}
 * @param tokenizer {@code tokenizer.json}, or a vocabulary of {@code tiktoken}
 * @param tokenizerConfig {@code tokenizer_config.json}
 * @param chatTemplate a separate template file, when the model has one
 * @param generationConfig {@code generation_config.json}
 * @param extraFiles further files of the model's directory, without weights; present only where a
 *     status server hosts them, as in Dynamo
 * @param architecturalContextLength positions that the model was made for, null when unknown
 * @param contextLength positions that the worker serves; 0 when unknown
 * @param blockTokens {@code kv_cache_block_size}
 * @param migrationLimit how often a generation may move to another worker; 0 leaves it to the
 *     frontend, as every card of Dynamo does
 * @param modelTypes flags such as {@code Chat}, {@code Completions}
 * @param modelInput {@code Tokens}, {@code Text} or {@code Tensor}
 * @param workerType {@code aggregated}, {@code prefill}, …; null in cards of older workers
 * @param needs alternatives, each a list of worker types that must be live beside this one
 * @param runtimeConfig the engine's limits and switches, values as in JSON, null included
 * @param routerConfig the routing that the worker asks for at its endpoint, in the same form; empty
 *     leaves that to the frontend
 * @param lora the adapter that the card describes; null for a model itself
 * @param aliases further names that clients may use for it
 * @param media what frontends do with the media of prompts
 * @param tensorConfig {@code tensor_model_config}: the tensors that its workers take and give, in
 *     the same form; empty when the card does not say
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
    List<ModelFile> extraFiles,
    @Nullable Integer architecturalContextLength,
    int contextLength,
    int blockTokens,
    int migrationLimit,
    Set<String> modelTypes,
    String modelInput,
    @Nullable String workerType,
    List<List<String>> needs,
    Map<String, @Nullable Object> runtimeConfig,
    Map<String, @Nullable Object> routerConfig,
    @Nullable LoraAdapter lora,
    List<String> aliases,
    CardMedia media,
    Map<String, @Nullable Object> tensorConfig) {
  /** The prefix of topology taints, which no caller may set. */
  public static final String TOPOLOGY_TAINT = "dynamo.topology/";

  /** The worker type of workers that do all of a request. */
  public static final String AGGREGATED = "aggregated";

  /** The worker type of workers that compute prompts for others. */
  public static final String PREFILL = "prefill";

  /** The worker type of workers that decode prompts computed by others. */
  public static final String DECODE = "decode";

  /** The worker type of workers that encode media for others. */
  public static final String ENCODE = "encode";

  private static final String PREFILL_FLAG = "Prefill"; // a type of cards without one

  private static final String TAINTS = "taints"; // a member of the runtime configuration

  public ModelCard {
    extraFiles = List.copyOf(extraFiles);
    aliases = List.copyOf(aliases);
    modelTypes = Set.copyOf(modelTypes);
    needs = needs.stream().map(List::copyOf).toList();
    runtimeConfig = Collections.unmodifiableMap(new LinkedHashMap<>(runtimeConfig));
    routerConfig = Collections.unmodifiableMap(new LinkedHashMap<>(routerConfig));
    tensorConfig = Collections.unmodifiableMap(new LinkedHashMap<>(tensorConfig));
  }

  /** The name of the parser that tells thoughts from answers; null when the model has none. */
  public @Nullable String reasoningParser() {
    return runtimeConfig.get("reasoning_parser") instanceof String name && !name.isBlank()
        ? name
        : null;
  }

  /** Creates a card without aliases, media and tensors. */
  public ModelCard(
      String displayName,
      String slug,
      @Nullable String sourcePath,
      @Nullable ModelFile config,
      @Nullable ModelFile tokenizer,
      @Nullable ModelFile tokenizerConfig,
      @Nullable ModelFile chatTemplate,
      @Nullable ModelFile generationConfig,
      List<ModelFile> extraFiles,
      @Nullable Integer architecturalContextLength,
      int contextLength,
      int blockTokens,
      int migrationLimit,
      Set<String> modelTypes,
      String modelInput,
      @Nullable String workerType,
      List<List<String>> needs,
      Map<String, @Nullable Object> runtimeConfig,
      Map<String, @Nullable Object> routerConfig,
      @Nullable LoraAdapter lora) {
    this(
        displayName,
        slug,
        sourcePath,
        config,
        tokenizer,
        tokenizerConfig,
        chatTemplate,
        generationConfig,
        extraFiles,
        architecturalContextLength,
        contextLength,
        blockTokens,
        migrationLimit,
        modelTypes,
        modelInput,
        workerType,
        needs,
        runtimeConfig,
        routerConfig,
        lora,
        List.of(),
        CardMedia.NONE,
        Map.of());
  }

  /** Creates a card without extra files, router configuration, adapter and aliases. */
  public ModelCard(
      String displayName,
      String slug,
      @Nullable String sourcePath,
      @Nullable ModelFile config,
      @Nullable ModelFile tokenizer,
      @Nullable ModelFile tokenizerConfig,
      @Nullable ModelFile chatTemplate,
      @Nullable ModelFile generationConfig,
      @Nullable Integer architecturalContextLength,
      int contextLength,
      int blockTokens,
      int migrationLimit,
      Set<String> modelTypes,
      String modelInput,
      @Nullable String workerType,
      List<List<String>> needs,
      Map<String, @Nullable Object> runtimeConfig) {
    this(
        displayName,
        slug,
        sourcePath,
        config,
        tokenizer,
        tokenizerConfig,
        chatTemplate,
        generationConfig,
        List.of(),
        architecturalContextLength,
        contextLength,
        blockTokens,
        migrationLimit,
        modelTypes,
        modelInput,
        workerType,
        needs,
        runtimeConfig,
        Map.of(),
        null);
  }

  /**
   * Returns the card of an adapter on this model: its files and limits under the adapter's name.
   */
  public ModelCard of(LoraAdapter adapter) {
    return with(adapter.name(), UnaryOperator.identity(), extraFiles, runtimeConfig, adapter);
  }

  /** Returns the same card with each of its files replaced. */
  public ModelCard withFiles(UnaryOperator<ModelFile> change) {
    return with(displayName, change, extraFiles.stream().map(change).toList(), runtimeConfig, lora);
  }

  /**
   * Returns the same card with these taints. Topology taints stay: they follow from the worker's
   * location.
   */
  public ModelCard withTaints(Collection<String> taints) {
    var all = new TreeSet<>(taints);
    if (runtimeConfig.get(TAINTS) instanceof Collection<?> known) {
      for (var taint : known) {
        if (taint instanceof String name && name.startsWith(TOPOLOGY_TAINT)) {
          all.add(name);
        }
      }
    }
    var config = new LinkedHashMap<String, @Nullable Object>(runtimeConfig);
    config.put(TAINTS, List.copyOf(all));
    return with(displayName, UnaryOperator.identity(), extraFiles, config, lora);
  }

  /** Returns the same card with these aliases. */
  public ModelCard withAliases(List<String> names) {
    return with(
        displayName,
        UnaryOperator.identity(),
        extraFiles,
        runtimeConfig,
        lora,
        names,
        media,
        tensorConfig);
  }

  /** Returns the same card with these rules for media. */
  public ModelCard withMedia(CardMedia rules) {
    return with(
        displayName,
        UnaryOperator.identity(),
        extraFiles,
        runtimeConfig,
        lora,
        aliases,
        rules,
        tensorConfig);
  }

  /** Returns the same card with these tensors. */
  public ModelCard withTensorConfig(Map<String, @Nullable Object> config) {
    return with(
        displayName,
        UnaryOperator.identity(),
        extraFiles,
        runtimeConfig,
        lora,
        aliases,
        media,
        config);
  }

  /** Returns the same card without its extra files. */
  public ModelCard withoutExtraFiles() {
    return extraFiles.isEmpty()
        ? this
        : with(displayName, UnaryOperator.identity(), List.of(), runtimeConfig, lora);
  }

  private ModelCard with(
      String name,
      UnaryOperator<ModelFile> change,
      List<ModelFile> extra,
      Map<String, @Nullable Object> engine,
      @Nullable LoraAdapter adapter) {
    var names = name.equals(displayName) ? aliases : List.<String>of();
    return with(name, change, extra, engine, adapter, names, media, tensorConfig);
  }

  /**
   * @param change applied to every file but the extra ones
   */
  private ModelCard with(
      String name,
      UnaryOperator<ModelFile> change,
      List<ModelFile> extra,
      Map<String, @Nullable Object> engine,
      @Nullable LoraAdapter adapter,
      List<String> names,
      CardMedia rules,
      Map<String, @Nullable Object> tensors) {
    return new ModelCard(
        name,
        name.equals(displayName) ? slug : Slug.of(name),
        sourcePath,
        changed(config, change),
        changed(tokenizer, change),
        changed(tokenizerConfig, change),
        changed(chatTemplate, change),
        changed(generationConfig, change),
        extra,
        architecturalContextLength,
        contextLength,
        blockTokens,
        migrationLimit,
        modelTypes,
        modelInput,
        workerType,
        needs,
        engine,
        routerConfig,
        adapter,
        names,
        rules,
        tensors);
  }

  private static @Nullable ModelFile changed(
      @Nullable ModelFile file, UnaryOperator<ModelFile> change) {
    return file == null ? null : change.apply(file);
  }

  /** Whether its workers generate text; others embed or rank, for example. */
  public boolean generates() {
    return modelTypes.contains("Chat") || modelTypes.contains("Completions");
  }

  /** Whether its workers take the bodies of clients' requests as they are, without token ids. */
  public boolean takesBodies() {
    return modelInput.equals("Text");
  }

  /** Whether its workers take tensors, as the clients of KServe's protocol send them. */
  public boolean takesTensors() {
    return modelInput.equals("Tensor");
  }

  /**
   * Returns the worker type that the card declares, or for older cards without one, the type that
   * follows from their flags.
   */
  public String effectiveWorkerType() {
    if (workerType != null) {
      return workerType;
    }
    return modelTypes.contains(PREFILL_FLAG) ? PREFILL : AGGREGATED;
  }

  /** Returns the number of data-parallel ranks of the worker that wrote the card. */
  public int ranks() {
    return runtimeConfig.get("data_parallel_size") instanceof Number size
        ? Math.max(1, size.intValue())
        : 1;
  }
}
