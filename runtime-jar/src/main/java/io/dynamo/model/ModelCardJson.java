package io.dynamo.model;

import io.dynamo.json.JsonObject;
import java.util.ArrayList;
import java.util.LinkedHashMap;
import java.util.LinkedHashSet;
import java.util.List;
import java.util.Map;
import java.util.Set;
import org.jspecify.annotations.Nullable;

/**
 * Reads and writes cards as stored in discovery ({@code card_json}). Unknown members are ignored
 * when reading; absent files are omitted when writing, as Dynamo does.
 */
public final class ModelCardJson {
  /** The flags in the order of their bits, in which Dynamo writes them. */
  static final List<String> FLAGS =
      List.of(
          "Chat",
          "Completions",
          "Embedding",
          "TensorBased",
          "Prefill",
          "Images",
          "Audios",
          "Videos",
          "Realtime",
          "Classify",
          "Pooling",
          "Rerank");

  private static final String TOKENIZER_JSON = "hf_tokenizer_json";
  private static final String TIKTOKEN = "tik_token_model";

  private ModelCardJson() {}

  public static Map<String, @Nullable Object> toJson(ModelCard card) {
    var json = new LinkedHashMap<String, @Nullable Object>();
    json.put("display_name", card.displayName());
    json.put("slug", card.slug());
    putIfPresent(json, "source_path", card.sourcePath());
    putIfPresent(json, "model_info", tagged("hf_config_json", card.config()));
    var tokenizer = card.tokenizer();
    putIfPresent(
        json,
        "tokenizer",
        tagged(tokenizer != null && tokenizer.isTiktoken() ? TIKTOKEN : TOKENIZER_JSON, tokenizer));
    putIfPresent(
        json, "prompt_formatter", tagged("hf_tokenizer_config_json", card.tokenizerConfig()));
    putIfPresent(json, "chat_template_file", template(card.chatTemplate()));
    putIfPresent(json, "gen_config", tagged("hf_generation_config_json", card.generationConfig()));
    putIfPresent(json, "architectural_max_context_length", card.architecturalContextLength());
    json.put("context_length", card.contextLength());
    json.put("kv_cache_block_size", card.blockTokens());
    json.put("migration_limit", card.migrationLimit());
    json.put("model_type", flags(card.modelTypes()));
    json.put("model_input", card.modelInput());
    putIfPresent(json, "worker_type", card.workerType());
    json.put("needs", card.needs());
    putLora(json, card.lora());
    if (!card.aliases().isEmpty()) {
      json.put("aliases", card.aliases());
    }
    json.put("runtime_config", card.runtimeConfig());
    json.put("media_decoder", orNull(card.media().decoder()));
    json.put("media_fetcher", orNull(card.media().fetcher()));
    if (!card.tensorConfig().isEmpty()) {
      json.put("tensor_model_config", card.tensorConfig());
    }
    if (!card.routerConfig().isEmpty()) {
      json.put("router_config", card.routerConfig());
    }
    if (!card.extraFiles().isEmpty()) {
      json.put("extra_files", card.extraFiles().stream().map(ModelCardJson::file).toList());
    }
    return json;
  }

  /**
   * @throws IllegalArgumentException when a member that Dynamo's frontend requires is missing, or a
   *     member has the wrong type
   */
  public static ModelCard fromJson(JsonObject json) {
    var runtimeConfig = json.optionalObject("runtime_config");
    var routerConfig = json.optionalObject("router_config");
    var architectural = json.optionalCount("architectural_max_context_length");
    return new ModelCard(
            json.text("display_name"),
            json.text("slug"),
            json.optionalText("source_path"),
            untagged(json.optionalObject("model_info"), "hf_config_json"),
            tokenizer(json.optionalObject("tokenizer")),
            untagged(json.optionalObject("prompt_formatter"), "hf_tokenizer_config_json"),
            template(json.optionalObject("chat_template_file")),
            untagged(json.optionalObject("gen_config"), "hf_generation_config_json"),
            extraFiles(json),
            architectural,
            contextLength(runtimeConfig, architectural, json.optionalCount("context_length")),
            json.count("kv_cache_block_size"),
            json.count("migration_limit"),
            flags(json.text("model_type")),
            json.text("model_input"),
            json.optionalText("worker_type"),
            needs(json.list("needs")),
            runtimeConfig == null ? Map.of() : runtimeConfig.members(),
            routerConfig == null ? Map.of() : routerConfig.members(),
            lora(json))
        .withAliases(aliases(json))
        .withMedia(media(json))
        .withTensorConfig(tensorConfig(json));
  }

  private static @Nullable Object orNull(Map<String, @Nullable Object> value) {
    return value.isEmpty() ? null : value;
  }

  private static Map<String, @Nullable Object> tensorConfig(JsonObject json) {
    var config = json.optionalObject("tensor_model_config");
    return config == null ? Map.of() : config.members();
  }

  private static CardMedia media(JsonObject json) {
    var decoder = json.optionalObject("media_decoder");
    var fetcher = json.optionalObject("media_fetcher");
    return decoder == null && fetcher == null
        ? CardMedia.NONE
        : new CardMedia(
            decoder == null ? Map.of() : decoder.members(),
            fetcher == null ? Map.of() : fetcher.members());
  }

  private static List<String> aliases(JsonObject json) {
    var aliases = new ArrayList<String>();
    if (json.members().get("aliases") != null) {
      for (var alias : json.list("aliases")) {
        if (!(alias instanceof String name)) {
          throw new IllegalArgumentException("member \"aliases\" is not a list of names");
        }
        if (!name.isEmpty()) {
          aliases.add(name);
        }
      }
    }
    return aliases;
  }

  private static void putLora(Map<String, @Nullable Object> json, @Nullable LoraAdapter lora) {
    if (lora == null) {
      return;
    }
    var adapter = new LinkedHashMap<String, @Nullable Object>();
    adapter.put("name", lora.name());
    putIfPresent(adapter, "max_gpu_lora_count", lora.maxCount());
    json.put("lora", adapter);
    if (lora.id() != null) {
      json.put("user_data", JsonObject.ordered("lora_adapter", true, "lora_id", lora.id()));
    }
  }

  private static @Nullable LoraAdapter lora(JsonObject json) {
    var lora = json.optionalObject("lora");
    if (lora == null) {
      return null;
    }
    var id = json.members().get("user_data") instanceof Map<?, ?> data ? data.get("lora_id") : null;
    return new LoraAdapter(
        lora.text("name"),
        lora.optionalCount("max_gpu_lora_count"),
        id instanceof Number number ? (Integer) number.intValue() : null);
  }

  private static List<ModelFile> extraFiles(JsonObject json) {
    return json.optionalObjects("extra_files").stream().map(ModelCardJson::file).toList();
  }

  /**
   * Chooses the context length in Dynamo's order: the engine's own limit, then the model's, then
   * the older member.
   */
  private static int contextLength(
      @Nullable JsonObject runtimeConfig,
      @Nullable Integer architectural,
      @Nullable Integer legacy) {
    var served = runtimeConfig == null ? null : runtimeConfig.optionalCount("context_length");
    if (served != null) {
      return served;
    }
    if (architectural != null) {
      return architectural;
    }
    return legacy == null ? 0 : legacy;
  }

  private static void putIfPresent(
      Map<String, @Nullable Object> json, String name, @Nullable Object value) {
    if (value != null) {
      json.put(name, value);
    }
  }

  private static @Nullable Map<String, @Nullable Object> tagged(
      String tag, @Nullable ModelFile file) {
    if (file == null) {
      return null;
    }
    var json = new LinkedHashMap<String, @Nullable Object>();
    json.put(tag, file(file));
    return json;
  }

  private static Map<String, @Nullable Object> file(ModelFile file) {
    var json = new LinkedHashMap<String, @Nullable Object>();
    json.put("path", file.path());
    json.put("checksum", file.checksum());
    putIfPresent(json, "size", file.size());
    return json;
  }

  private static @Nullable Map<String, @Nullable Object> template(@Nullable ModelFile file) {
    if (file == null) {
      return null;
    }
    var template = new LinkedHashMap<String, @Nullable Object>();
    template.put("is_custom", false);
    template.put("file", file(file));
    var json = new LinkedHashMap<String, @Nullable Object>();
    json.put(
        file.path().endsWith(".json") ? "hf_chat_template_json" : "hf_chat_template", template);
    return json;
  }

  private static @Nullable ModelFile untagged(@Nullable JsonObject json, String tag) {
    var file = json == null ? null : json.optionalObject(tag);
    return file == null ? null : file(file);
  }

  private static @Nullable ModelFile tokenizer(@Nullable JsonObject json) {
    var file = untagged(json, TOKENIZER_JSON);
    var other = file == null ? untagged(json, TIKTOKEN) : null;
    if (other != null && !other.isTiktoken()) {
      throw new IllegalArgumentException(
          "member \"%s\" names %s, which is neither tiktoken.model nor ends in .tiktoken"
              .formatted(TIKTOKEN, other.name()));
    }
    return file == null ? other : file;
  }

  private static ModelFile file(JsonObject json) {
    return new ModelFile(json.text("path"), json.text("checksum"), json.optionalLong("size"));
  }

  private static @Nullable ModelFile template(@Nullable JsonObject json) {
    if (json == null) {
      return null;
    }
    for (var tag : List.of("hf_chat_template", "hf_chat_template_jinja", "hf_chat_template_json")) {
      var template = json.optionalObject(tag);
      if (template != null) {
        return file(template.object("file"));
      }
    }
    return null;
  }

  private static String flags(Set<String> types) {
    var ordered = new ArrayList<String>(FLAGS);
    ordered.retainAll(types);
    types.stream().filter(type -> !FLAGS.contains(type)).sorted().forEach(ordered::add);
    return String.join(" | ", ordered);
  }

  private static Set<String> flags(String text) {
    var flags = new LinkedHashSet<String>();
    for (var flag : text.split("\\|", -1)) {
      if (!flag.isBlank()) {
        flags.add(flag.strip());
      }
    }
    return flags;
  }

  private static List<List<String>> needs(List<@Nullable Object> json) {
    var needs = new ArrayList<List<String>>();
    for (var alternative : json) {
      if (!(alternative instanceof List<?> types)) {
        throw new IllegalArgumentException("member \"needs\" is not a list of lists");
      }
      needs.add(types.stream().map(String::valueOf).toList());
    }
    return needs;
  }
}
