package io.dynamo.runtime.status;

import io.dynamo.discovery.EndpointId;
import io.dynamo.model.ModelCard;
import io.dynamo.model.ModelFile;
import java.net.URI;
import java.net.URISyntaxException;
import java.nio.file.Path;
import java.util.HashMap;
import java.util.Map;
import java.util.concurrent.ConcurrentHashMap;
import org.jspecify.annotations.Nullable;

/**
 * The files that are served to other processes: those that cards of this process name, and no
 * other. A requested name is looked up, never turned into a path. Safe for concurrent use.
 */
public final class HostedFiles {
  /** The path segment of the model itself, where an adapter has its own name. */
  public static final String BASE = "_base";

  static final String ROUTE = "/v1/metadata/";

  /**
   * A card whose files are served.
   *
   * @param card names each file by the address where others fetch it; unchanged when nothing is
   *     served
   * @param files are served until this is closed
   */
  public record HostedCard(ModelCard card, Registered files) {}

  private final Map<String, Path> files = new ConcurrentHashMap<>();
  private volatile @Nullable URI server; // the address as others reach it

  /** Sets the address at which others reach the files; null when they cannot. */
  void announce(@Nullable URI at) {
    server = at;
  }

  /**
   * Serves the local files of {@code card}, including its extra files if they can be reached, below
   * {@code {ns}/{comp}/{ep}/{slug}/{suffix}}.
   *
   * @param suffix of an adapter's card; null for the model itself
   */
  public HostedCard add(EndpointId endpoint, ModelCard card, @Nullable String suffix) {
    var folder = "%s/%s/%s/".formatted(endpoint, card.slug(), suffix == null ? BASE : suffix);
    Map<String, Path> own = new HashMap<>();
    var published =
        server == null ? card.withoutExtraFiles() : card; // as in Dynamo: hosted, or left out
    var announced = published.withFiles(file -> add(own, folder, file));
    files.putAll(own);
    return new HostedCard(announced, () -> own.forEach(files::remove));
  }

  /** Adds a local file; returns it under the address that others use. */
  private ModelFile add(Map<String, Path> own, String folder, ModelFile file) {
    if (file.path().contains("://")) {
      return file;
    }
    var name = folder + file.name();
    own.put(name, Path.of(file.path()));
    var at = server;
    return at == null ? file : new ModelFile(url(at, name), file.checksum(), file.size());
  }

  private static String url(URI server, String name) {
    try {
      return new URI(
              server.getScheme(),
              null,
              server.getHost(),
              server.getPort(),
              ROUTE + name,
              null,
              null)
          .toASCIIString();
    } catch (URISyntaxException e) {
      throw new IllegalArgumentException("no address for " + name, e);
    }
  }

  @Nullable Path find(String name) {
    return files.get(name);
  }
}
