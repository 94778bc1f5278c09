package io.dynamo.worker.lora;

import java.net.URI;
import java.net.URISyntaxException;
import java.nio.file.FileSystemNotFoundException;
import java.nio.file.Files;
import java.nio.file.Path;

/** Finds the directory of an adapter's source address. */
final class AdapterSource {
  private static final String CONFIG = "adapter_config.json";
  private static final String WEIGHTS = "adapter_model.safetensors";

  private AdapterSource() {}

  /**
   * Returns the directory of a {@code file://} address.
   *
   * @throws IllegalArgumentException when it is another kind of address, or has no adapter
   */
  static Path directory(String uri) {
    URI parsed;
    try {
      parsed = new URI(uri);
    } catch (URISyntaxException e) {
      throw new IllegalArgumentException("source.uri \"" + uri + "\" is no URI", e);
    }
    if (!"file".equals(parsed.getScheme())) {
      throw new IllegalArgumentException(
          "source.uri \"%s\" is not a file:// address; copy the adapter to this machine and name its directory"
              .formatted(uri));
    }
    Path directory;
    try {
      directory = Path.of(parsed);
    } catch (IllegalArgumentException | FileSystemNotFoundException e) {
      throw new IllegalArgumentException("source.uri \"" + uri + "\" is no path here", e);
    }
    if (!Files.isDirectory(directory)) {
      throw new IllegalArgumentException("Local LoRA not found: " + directory);
    }
    if (!Files.isRegularFile(directory.resolve(CONFIG))
        || !Files.isRegularFile(directory.resolve(WEIGHTS))) {
      throw new IllegalArgumentException(
          "%s is not a valid LoRA: expected %s and %s".formatted(directory, CONFIG, WEIGHTS));
    }
    return directory;
  }
}
