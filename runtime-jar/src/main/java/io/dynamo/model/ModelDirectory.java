package io.dynamo.model;

import io.dynamo.json.Json;
import io.dynamo.json.JsonObject;
import io.dynamo.model.vocabulary.TokenizerFile;
import java.io.IOException;
import java.io.UncheckedIOException;
import java.nio.file.DirectoryIteratorException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.HashSet;
import java.util.HexFormat;
import java.util.List;
import java.util.Map;
import java.util.Set;
import java.util.function.Function;
import org.apache.commons.codec.digest.Blake3;
import org.jspecify.annotations.Nullable;

/**
 * A Hugging Face model directory, as far as serving needs it: its files, but not the contents of
 * the weights. Immutable.
 *
 * @param tokenizer {@code tokenizer.json}, or a vocabulary of {@code tiktoken}
 * @param chatTemplate {@code chat_template.jinja} or {@code chat_template.json}, when there is one
 * @param contextLength {@code max_position_embeddings}, null when {@code config.json} has none
 */
public record ModelDirectory(
    Path path,
    ModelFile config,
    ModelFile tokenizer,
    ModelFile tokenizerConfig,
    @Nullable ModelFile chatTemplate,
    @Nullable ModelFile generationConfig,
    @Nullable Integer contextLength) {
  private static final int CHUNK_BYTES = 1 << 16;

  /** The endings of weight files, which are not extra files. */
  private static final Set<String> WEIGHTS =
      Set.of("bin", "gguf", "h5", "msgpack", "onnx", "pt", "pth", "safetensors", "tflite");

  /**
   * Reads the files of {@code path} and computes their checksums. Reads each once.
   *
   * @throws IllegalArgumentException when it is not a directory, lacks {@code config.json}, a
   *     tokenizer or {@code tokenizer_config.json}, or has an invalid {@code config.json} or an
   *     invalid vocabulary of {@code tiktoken}
   * @throws UncheckedIOException when a file cannot be read
   */
  public static ModelDirectory open(Path path) {
    var directory = path.toAbsolutePath().normalize();
    if (!Files.isDirectory(directory)) {
      throw new IllegalArgumentException(
          "model directory " + directory + " does not exist; set dynamo.worker.model-path");
    }
    var config = required(directory, "config.json");
    return new ModelDirectory(
        directory,
        config,
        tokenizer(directory),
        required(directory, "tokenizer_config.json"),
        first(directory, "chat_template.jinja", "chat_template.json"),
        first(directory, "generation_config.json"),
        contextLength(Path.of(config.path())));
  }

  private static ModelFile required(Path directory, String name) {
    var file = first(directory, name);
    if (file == null) {
      throw new IllegalArgumentException(
          "model directory " + directory + " has no " + name + "; a Hugging Face model has one");
    }
    return file;
  }

  private static ModelFile tokenizer(Path directory) {
    var file = TokenizerFile.find(directory);
    if (file == null) {
      throw new IllegalArgumentException(
          "model directory "
              + directory
              + " has no tokenizer.json and no tiktoken.model; a Hugging Face model has one");
    }
    var sum = sum(file);
    if (sum.isTiktoken()) { // as no engine may look at it, and frontends could not say it here
      try {
        TokenizerFile.read(file);
      } catch (IOException e) {
        throw new UncheckedIOException("cannot read the model file " + file, e);
      }
    }
    return sum;
  }

  private static @Nullable ModelFile first(Path directory, String... names) {
    for (var name : names) {
      var file = directory.resolve(name);
      if (Files.isRegularFile(file)) {
        return sum(file);
      }
    }
    return null;
  }

  private static ModelFile sum(Path file) {
    var hash = Blake3.initHash();
    long size = 0;
    try (var in = Files.newInputStream(file)) {
      var chunk = new byte[CHUNK_BYTES];
      for (int n = in.read(chunk); n >= 0; n = in.read(chunk)) {
        hash.update(chunk, 0, n);
        size += n;
      }
    } catch (IOException e) {
      throw new UncheckedIOException("cannot read the model file " + file, e);
    }
    var digest = new byte[32];
    hash.doFinalize(digest);
    return new ModelFile(file.toString(), "blake3:" + HexFormat.of().formatHex(digest), size);
  }

  private static @Nullable Integer contextLength(Path config) {
    return count(config, "max_position_embeddings");
  }

  /**
   * Returns {@code vocab_size} of {@code config.json} or else of its {@code text_config}: token ids
   * are below it; null when there is none.
   */
  public @Nullable Integer vocabularySize() {
    return count(Path.of(config.path()), "vocab_size");
  }

  /**
   * Returns {@code model_type}, the family of the model; null when {@code config.json} has none.
   */
  public @Nullable String modelType() {
    return read(Path.of(config.path()), json -> json.optionalText("model_type"));
  }

  private static @Nullable Integer count(Path config, String member) {
    return read(
        config,
        json -> {
          var own = json.optionalCount(member);
          var text = own == null ? json.optionalObject("text_config") : null;
          return text == null ? own : text.optionalCount(member);
        });
  }

  private static <T> @Nullable T read(Path config, Function<JsonObject, @Nullable T> member) {
    try {
      return member.apply(Json.readObject(Files.readAllBytes(config)));
    } catch (IOException e) {
      throw new UncheckedIOException("cannot read the model file " + config, e);
    } catch (IllegalArgumentException e) {
      throw new IllegalArgumentException(config + ": " + e.getMessage(), e);
    }
  }

  /**
   * Lists the further files of the directory that a frontend may need, chosen as Dynamo does:
   * regular files that are not weights, not hidden and not named above; in the directory's own
   * order, which Dynamo keeps and includes in its checksum.
   */
  private List<ModelFile> extraFiles() {
    var named = new HashSet<String>();
    for (var file :
        Arrays.asList(config, tokenizer, tokenizerConfig, chatTemplate, generationConfig)) {
      if (file != null) {
        named.add(file.name());
      }
    }
    var extra = new ArrayList<ModelFile>();
    try (var entries = Files.newDirectoryStream(path)) {
      for (var entry : entries) {
        var name = String.valueOf(entry.getFileName());
        if (isExtra(name) && !named.contains(name) && Files.isRegularFile(entry)) {
          extra.add(sum(entry));
        }
      }
    } catch (IOException | DirectoryIteratorException e) {
      throw new UncheckedIOException(
          "cannot list the model directory " + path,
          e instanceof IOException io ? io : ((DirectoryIteratorException) e).getCause());
    }
    return extra;
  }

  private static boolean isExtra(String name) {
    return !name.startsWith(".")
        && !name.equals("README.md")
        && !WEIGHTS.contains(name.substring(name.lastIndexOf('.') + 1));
  }

  /** Returns the directory's own name. */
  public String name() {
    var name = path.getFileName();
    return name == null ? path.toString() : name.toString();
  }

  /**
   * Returns the card of an aggregated worker that takes tokens and answers chats and completions.
   *
   * @param displayName null takes the directory's name
   * @param runtimeConfig the engine's capabilities, copied into the card unchanged
   */
  public ModelCard card(
      @Nullable String displayName, int blockTokens, Map<String, @Nullable Object> runtimeConfig) {
    return card(displayName, blockTokens, runtimeConfig, Map.of());
  }

  /**
   * Returns the card of a worker that also asks for a particular routing.
   *
   * @param routerConfig as Dynamo's {@code router_config}; empty leaves it to the frontend
   */
  public ModelCard card(
      @Nullable String displayName,
      int blockTokens,
      Map<String, @Nullable Object> runtimeConfig,
      Map<String, @Nullable Object> routerConfig) {
    return card(
        displayName, Set.of("Chat", "Completions"), blockTokens, runtimeConfig, routerConfig);
  }

  /**
   * Returns the card of a worker that takes tokens for other APIs.
   *
   * @param modelTypes the flags of its APIs, of {@link ModelTypes}
   */
  public ModelCard card(
      @Nullable String displayName,
      Set<String> modelTypes,
      int blockTokens,
      Map<String, @Nullable Object> runtimeConfig,
      Map<String, @Nullable Object> routerConfig) {
    var shown = displayName == null ? name() : displayName;
    return new ModelCard(
        shown,
        Slug.of(shown),
        path.toString(),
        config,
        tokenizer,
        tokenizerConfig,
        chatTemplate,
        generationConfig,
        extraFiles(),
        contextLength,
        contextLength == null ? 0 : contextLength,
        blockTokens,
        0,
        modelTypes,
        "Tokens",
        "aggregated",
        List.of(),
        runtimeConfig,
        routerConfig,
        null);
  }
}
