package io.dynamo.cli;

import io.dynamo.config.OfflineSettings;
import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.Map;
import org.jspecify.annotations.Nullable;
import picocli.CommandLine.Option;

/** The option that names the operator's file. */
final class ConfigurationOptions {
  @Option(
      names = "--config",
      paramLabel = "FILE",
      description =
          "The operator's file of settings; as a default the one that DYNAMO_CONFIG_FILE names.")
  private @Nullable Path file;

  /** Reads the settings that a server started here would have. */
  OfflineSettings settings() {
    var environment = System.getenv();
    var named = environment.get("DYNAMO_CONFIG_FILE");
    var path = file != null || named == null || named.isBlank() ? file : Path.of(named.strip());
    return read(environment, path);
  }

  static OfflineSettings read(Map<String, String> environment, @Nullable Path file) {
    if (file != null && !Files.isReadable(file)) {
      throw new RefusedException(
          "the settings in %s cannot be read; name another file with --config, or make it readable"
              .formatted(file));
    }
    try {
      return OfflineSettings.of(environment, file);
    } catch (IOException | IllegalArgumentException e) {
      throw new RefusedException(
          "the settings in %s cannot be read: %s; correct the file".formatted(file, e));
    }
  }
}
