package io.dynamo.config;

import java.io.IOException;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.Properties;
import java.util.Set;
import org.eclipse.microprofile.config.spi.ConfigSource;
import org.jspecify.annotations.Nullable;

/**
 * The operator's configuration file: the one that the variable {@code DYNAMO_CONFIG_FILE} names,
 * else {@code ${server.config.dir}/microprofile-config.properties}. Ranks above the packaged file,
 * below the environment. Read once; a server without one has no values from it. Immutable.
 */
public final class OperatorFile implements ConfigSource {
  /**
   * The system property with the folder of the file; Liberty sets it before it starts an
   * application.
   */
  static final String CONFIG_DIR = "server.config.dir";

  /** The name of the file's path in the environment, as that of a setting would be. */
  static final String LOCATION = "dynamo.config.file";

  static final int ORDINAL = 200;
  private static final String FILE_NAME = "microprofile-config.properties";

  private final String name;
  private final Map<String, String> values;
  private final List<String> problems;

  /** Creates a source over this server's file, for the service loader. */
  public OperatorFile() {
    this(System.getenv(), System.getProperty(CONFIG_DIR));
  }

  /**
   * @param configDir the folder of the file that no variable names
   */
  OperatorFile(Map<String, String> environment, @Nullable String configDir) {
    var named = named(environment);
    var standard = configDir == null ? null : Path.of(configDir, FILE_NAME);
    var file = named == null ? standard : named;
    this.name = file == null ? FILE_NAME : file.toString();
    Map<String, String> read = Map.of();
    List<String> bad = List.of();
    if (file != null && (named != null || Files.exists(file))) {
      try {
        read = read(file);
      } catch (IOException | IllegalArgumentException e) {
        bad = List.of("%s cannot be read: %s; correct it, or remove it".formatted(file, e));
      }
    }
    this.values = read;
    this.problems = bad;
  }

  private static @Nullable Path named(Map<String, String> environment) {
    for (var variable : UnknownNames.variables(LOCATION)) {
      var path = environment.get(variable);
      if (path != null && !path.isBlank()) {
        return Path.of(path.strip());
      }
    }
    return null;
  }

  private static Map<String, String> read(Path file) throws IOException {
    var properties = new Properties();
    try (var reader = Files.newBufferedReader(file, StandardCharsets.UTF_8)) {
      properties.load(reader); // IllegalArgumentException: a malformed escape
    }
    var values = new HashMap<String, String>();
    properties.stringPropertyNames().forEach(key -> values.put(key, properties.getProperty(key)));
    return Map.copyOf(values);
  }

  /**
   * Returns why the file could not be read, at most one sentence. Not thrown where the file is
   * read: the container creates sources while it starts the application, and would continue without
   * this one.
   */
  List<String> problems() {
    return problems;
  }

  @Override
  public Map<String, String> getProperties() {
    return values;
  }

  @Override
  public Set<String> getPropertyNames() {
    return values.keySet();
  }

  @Override
  public @Nullable String getValue(String name) {
    return values.get(name);
  }

  @Override
  public int getOrdinal() {
    return ORDINAL;
  }

  @Override
  public String getName() {
    return name;
  }
}
