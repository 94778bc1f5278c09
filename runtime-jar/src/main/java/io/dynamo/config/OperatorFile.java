package io.dynamo.config;

import java.io.IOException;
import java.io.UncheckedIOException;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.HashMap;
import java.util.Map;
import java.util.Properties;
import java.util.Set;
import org.eclipse.microprofile.config.spi.ConfigSource;
import org.jspecify.annotations.Nullable;

/**
 * The operator's file, {@code ${server.config.dir}/microprofile-config.properties}: above the
 * packaged file, below the environment. Read once; a server without one has none of its values.
 * Immutable.
 */
public final class OperatorFile implements ConfigSource {
  /** Liberty sets this system property before it starts an application. */
  static final String CONFIG_DIR = "server.config.dir";

  static final int ORDINAL = 200;
  private static final String FILE_NAME = "microprofile-config.properties";

  private final String name;
  private final Map<String, String> values;

  /** Of this server: what the service loader makes. */
  public OperatorFile() {
    this(System.getProperty(CONFIG_DIR));
  }

  /**
   * @throws UncheckedIOException when there is a file that cannot be read
   */
  OperatorFile(@Nullable String configDir) {
    var file = configDir == null ? null : Path.of(configDir, FILE_NAME);
    this.name = file == null ? FILE_NAME : file.toString();
    this.values = file == null || !Files.exists(file) ? Map.of() : read(file);
  }

  private static Map<String, String> read(Path file) {
    var properties = new Properties();
    try (var reader = Files.newBufferedReader(file, StandardCharsets.UTF_8)) {
      properties.load(reader);
    } catch (IOException e) {
      throw new UncheckedIOException("cannot read the settings in " + file, e);
    }
    var values = new HashMap<String, String>();
    properties.stringPropertyNames().forEach(key -> values.put(key, properties.getProperty(key)));
    return Map.copyOf(values);
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
