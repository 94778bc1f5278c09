package io.dynamo.cli;

import io.dynamo.model.vocabulary.TokenizerFile;
import java.io.IOException;
import java.io.UncheckedIOException;
import java.nio.file.Files;
import java.nio.file.InvalidPathException;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import org.jspecify.annotations.Nullable;

/** Finds the folder with a model's tokenizer on this machine. */
final class ModelFolder {
  private static final String CONFIG = "config.json";

  private ModelFolder() {}

  /** Returns the files that a folder lacks; empty when a worker can use it. */
  static List<String> missing(Path folder) {
    var missing = new ArrayList<String>();
    if (!Files.isReadable(folder.resolve(CONFIG))) {
      missing.add(CONFIG);
    }
    if (!hasTokenizer(folder)) {
      missing.add("tokenizer.json or tiktoken.model");
    }
    return missing;
  }

  private static boolean hasTokenizer(Path folder) {
    if (!Files.isDirectory(folder)) {
      return false;
    }
    try {
      var tokenizer = TokenizerFile.find(folder);
      return tokenizer != null && Files.isReadable(tokenizer);
    } catch (IllegalArgumentException _) {
      return true; // there are several: the worker says which
    } catch (UncheckedIOException _) {
      return false;
    }
  }

  /**
   * Resolves the model path that the server reports: a folder, or a name of the Hugging Face hub in
   * this machine's cache.
   *
   * @return null when the model is not on this machine
   */
  static @Nullable Path find(@Nullable String source, Map<String, String> environment) {
    if (source == null) {
      return null;
    }
    try {
      var named = Path.of(source);
      if (named.isAbsolute()) {
        return missing(named).isEmpty() ? named : null;
      }
      return isHubName(source) ? cached(source, environment) : null;
    } catch (InvalidPathException _) {
      return null;
    }
  }

  /** Whether the source is an owner and a name, as the hub has them. */
  static boolean isHubName(String source) {
    return source.matches("[A-Za-z0-9][\\w.-]*/[A-Za-z0-9][\\w.-]*") && !source.endsWith(".gguf");
  }

  private static @Nullable Path cached(String source, Map<String, String> environment) {
    for (var cache : caches(environment)) {
      var model = cache.resolve("models--" + source.replace("/", "--"));
      try {
        var revision = Files.readString(model.resolve("refs/main")).strip();
        var snapshot = model.resolve("snapshots").resolve(revision);
        if (missing(snapshot).isEmpty()) {
          return snapshot;
        }
      } catch (IOException _) {
        // not in this cache
      }
    }
    return null;
  }

  private static List<Path> caches(Map<String, String> environment) {
    var caches = new ArrayList<Path>();
    var hub = environment.get("HF_HUB_CACHE");
    if (hub != null && !hub.isBlank()) {
      caches.add(Path.of(hub));
    }
    var home = environment.get("HF_HOME");
    if (home != null && !home.isBlank()) {
      caches.add(Path.of(home, "hub"));
    }
    var user = environment.get("HOME");
    if (user != null && !user.isBlank()) {
      caches.add(Path.of(user, ".cache/huggingface/hub"));
    }
    return caches;
  }
}
