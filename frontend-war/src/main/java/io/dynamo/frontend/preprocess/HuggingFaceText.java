package io.dynamo.frontend.preprocess;

import io.dynamo.error.InvalidRequestException;
import io.dynamo.json.Json;
import io.dynamo.model.vocabulary.TiktokenFile;
import io.dynamo.model.vocabulary.TokenTable;
import io.dynamo.model.vocabulary.TokenizerFile;
import io.dynamo.model.vocabulary.Vocabulary;
import java.io.IOException;
import java.io.UncheckedIOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import org.jspecify.annotations.Nullable;

/**
 * The chat template, tokenizer and vocabulary of a Hugging Face model folder. Safe for concurrent
 * use.
 */
public final class HuggingFaceText implements ModelText {
  private static final String TOKENIZER = "tokenizer.json";
  private static final String TOKENIZER_CONFIG = "tokenizer_config.json";
  private static final String TEMPLATE = "chat_template.jinja";
  private static final String TEMPLATE_JSON = "chat_template.json";
  private static final List<String> FILES =
      List.of(
          TOKENIZER,
          TOKENIZER_CONFIG,
          TEMPLATE,
          TEMPLATE_JSON,
          EosTokens.GENERATION_CONFIG,
          EosTokens.CONFIG,
          EosTokens.SPECIAL_TOKENS_MAP,
          ImageTokens.PREPROCESSOR);

  private final PromptEncoder encoder;
  private final Vocabulary vocabulary;
  private final @Nullable PromptFormat template;
  private final int[] eosTokenIds;
  private final int maxTokenChars;
  private final @Nullable ImageTokens images;

  private HuggingFaceText(
      PromptEncoder encoder,
      Vocabulary vocabulary,
      @Nullable PromptFormat template,
      int[] eosTokenIds,
      @Nullable ImageTokens images) {
    this.images = images;
    this.encoder = encoder;
    this.vocabulary = vocabulary;
    this.template = template;
    this.eosTokenIds = eosTokenIds;
    this.maxTokenChars = Math.max(1, encoder.maxTokenChars(vocabulary.longestBytes()));
  }

  /**
   * Reads a model folder.
   *
   * @throws IllegalArgumentException when a file is not usable, naming it
   * @throws UncheckedIOException when one cannot be read
   * @throws IllegalStateException when the tokenizer library does not load on this machine
   */
  public static HuggingFaceText open(Path folder) {
    var texts = new HashMap<String, String>();
    for (var name : FILES) {
      put(texts, name, folder.resolve(name));
    }
    var tokenizer = TokenizerFile.find(folder);
    if (tokenizer != null && TiktokenFile.isNamed(String.valueOf(tokenizer.getFileName()))) {
      put(texts, TiktokenFile.NAME, tokenizer);
    }
    return of(texts);
  }

  private static void put(Map<String, String> texts, String name, Path file) {
    if (Files.exists(file)) {
      try {
        texts.put(name, Files.readString(file));
      } catch (IOException e) {
        throw new UncheckedIOException("cannot read " + file, e);
      }
    }
  }

  /** Reads the model's files, without a prefix cache: every prompt is encoded whole. */
  public static HuggingFaceText of(Map<String, String> texts) {
    return make(texts, "", null);
  }

  /**
   * Reads the model's files, with a prefix cache.
   *
   * @param texts file name without folder to content; {@code tokenizer.json} or {@code
   *     tiktoken.model} must be there
   * @param name the name that clients use, which tells the format of prompts where the files do not
   * @param cache remembers the ids of parts of prompts
   * @throws IllegalArgumentException when a file is not usable, naming it
   * @throws IllegalStateException when the tokenizer library does not load on this machine
   */
  public static HuggingFaceText of(Map<String, String> texts, String name, PrefixCache cache) {
    return make(texts, name, cache);
  }

  private static HuggingFaceText make(
      Map<String, String> texts, String name, @Nullable PrefixCache cache) {
    var parsed = new HashMap<String, Map<?, ?>>();
    for (var file : FILES) {
      var text = texts.get(file);
      if (text != null && file.endsWith(".json")) {
        parsed.put(file, Json.readFile(file, text) instanceof Map<?, ?> map ? map : Map.of());
      }
    }
    var config = parsed.getOrDefault(TOKENIZER_CONFIG, Map.of());
    var json = texts.get(TOKENIZER);
    var ranks = texts.get(TiktokenFile.NAME);
    if (json == null && ranks == null) {
      throw new IllegalArgumentException("the model has no " + TOKENIZER);
    }
    var tokenizer =
        json == null && ranks != null
            ? TiktokenFile.tokenizer(ranks, parsed.getOrDefault(EosTokens.CONFIG, Map.of()), config)
            : parsed.getOrDefault(TOKENIZER, Map.of());
    var vocabulary = Vocabulary.of(tokenizer);
    var eosTokenIds = EosTokens.of(parsed, config, tokenizer);
    var template = format(texts.get(TEMPLATE), parsed, name);
    var textEncoder =
        json == null
            ? ByteLevelEncoder.ofRanks(tokenizer)
            : ByteLevelEncoder.of(
                tokenizer,
                template instanceof KimiK3Format
                    ? LibraryEncoder.withOrdinary(json, tokenizer)
                    : new LibraryEncoder(json));
    var encoder = new PromptEncoder(textEncoder, tokenizer, cache);
    return new HuggingFaceText(encoder, vocabulary, template, eosTokenIds, ImageTokens.of(parsed));
  }

  @Override
  public PromptText render(ChatPrompt prompt) {
    if (template == null) {
      throw new InvalidRequestException("the model has no chat template; use /v1/completions");
    }
    return template.render(prompt);
  }

  @Override
  public int[] encode(PromptText prompt, int maxTokens) {
    return encoder.encode(prompt, maxTokens);
  }

  @Override
  public int maxTokenChars() {
    return maxTokenChars;
  }

  @Override
  public TokenTable tokens() {
    return vocabulary;
  }

  @Override
  public int[] eosTokenIds() {
    return eosTokenIds;
  }

  @Override
  public @Nullable ImageTokens images() {
    return images;
  }

  @Override
  public void close() {
    encoder.close();
  }

  private static @Nullable PromptFormat format(
      @Nullable String jinja, Map<String, Map<?, ?>> files, String name) {
    var model = files.getOrDefault(EosTokens.CONFIG, Map.of());
    if (KimiK3Format.isOf(model)) {
      return new KimiK3Format();
    }
    var template =
        template(jinja, files.get(TEMPLATE_JSON), files.getOrDefault(TOKENIZER_CONFIG, Map.of()));
    if (template != null) {
      return template;
    }
    if (DeepSeekV32Format.isOf(model)) {
      return new DeepSeekV32Format();
    }
    if (DeepSeekV4Format.isOf(model) || DeepSeekV4Format.isNamed(name)) {
      return new DeepSeekV4Format();
    }
    return DeepSeekV32Format.isNamed(name) ? new DeepSeekV32Format() : null;
  }

  private static @Nullable ChatTemplate template(
      @Nullable String jinja, @Nullable Map<?, ?> templateJson, Map<?, ?> config) {
    Object source = jinja;
    if (source == null) {
      source =
          templateJson == null ? config.get("chat_template") : templateJson.get("chat_template");
    }
    var special = new HashMap<String, String>();
    for (var name :
        List.of(
            "bos_token",
            "eos_token",
            "unk_token",
            "pad_token",
            "sep_token",
            "cls_token",
            "mask_token")) {
      var token = EosTokens.content(config.get(name));
      if (token != null) {
        special.put(name, token);
      }
    }
    return switch (source) {
      case String text -> new ChatTemplate(text, text, special);
      case List<?> named -> {
        var plain = named(named, "default");
        var tools = named(named, "tool_use");
        if (plain == null && tools == null) {
          throw new IllegalArgumentException(
              TOKENIZER_CONFIG + " names chat templates, but none is 'default' or 'tool_use'");
        }
        var first = plain != null ? plain : String.valueOf(tools);
        yield new ChatTemplate(first, tools != null ? tools : first, special);
      }
      case null -> null;
      default -> throw new IllegalArgumentException("chat_template is neither text nor a list");
    };
  }

  private static @Nullable String named(List<?> templates, String name) {
    for (var entry : templates) {
      if (entry instanceof Map<?, ?> map
          && name.equals(map.get("name"))
          && map.get("template") instanceof String template) {
        return template;
      }
    }
    return null;
  }
}
