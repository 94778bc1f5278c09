package io.dynamo.runtime.status;

import io.dynamo.discovery.EndpointId;
import io.dynamo.model.ModelCard;
import io.dynamo.model.ModelFile;
import java.nio.file.Path;
import java.util.HashMap;
import java.util.Map;
import java.util.concurrent.ConcurrentHashMap;
import java.util.stream.Stream;
import org.jspecify.annotations.Nullable;

/**
 * The files that are served to other processes: those that cards of this process name, and no
 * other. What is asked for is looked up, never made into a path. Safe for concurrent use.
 */
public final class HostedFiles {
  /** What stands for the model itself, where an adapter has its name. */
  public static final String BASE = "_base";

  private final Map<String, Path> files = new ConcurrentHashMap<>();

  /**
   * Serves the local files of {@code card} below {@code {ns}/{comp}/{ep}/{slug}/{suffix}}.
   *
   * @param suffix of an adapter's card; null for the model itself
   */
  public Registered add(EndpointId endpoint, ModelCard card, @Nullable String suffix) {
    var folder = "%s/%s/%s/".formatted(endpoint, card.slug(), suffix == null ? BASE : suffix);
    Map<String, Path> own = new HashMap<>();
    Stream.of(
            card.config(),
            card.tokenizer(),
            card.tokenizerConfig(),
            card.chatTemplate(),
            card.generationConfig())
        .forEach(file -> add(own, folder, file));
    files.putAll(own);
    return () -> own.forEach(files::remove);
  }

  private static void add(Map<String, Path> own, String folder, @Nullable ModelFile file) {
    if (file != null && !file.path().contains("://")) {
      own.put(folder + file.name(), Path.of(file.path()));
    }
  }

  @Nullable Path find(String name) {
    return files.get(name);
  }
}
