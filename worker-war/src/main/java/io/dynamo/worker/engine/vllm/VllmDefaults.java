package io.dynamo.worker.engine.vllm;

import io.dynamo.json.Json;
import java.io.IOException;
import java.io.UncheckedIOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;

/** Reads the defaults of sampling options that vLLM's OpenAI routes take from a model's files. */
public final class VllmDefaults {
  private static final List<String> READ =
      List.of(
          "repetition_penalty",
          "presence_penalty",
          "frequency_penalty",
          "temperature",
          "top_k",
          "top_p",
          "min_p");

  private VllmDefaults() {}

  /**
   * Returns the defaults of {@code generation_config.json} by their names; empty without the file.
   *
   * @throws IllegalArgumentException when the file is broken
   * @throws UncheckedIOException when it cannot be read
   */
  public static Map<String, Number> of(Path directory) {
    var file = directory.resolve("generation_config.json");
    var defaults = new LinkedHashMap<String, Number>();
    try {
      if (Files.isRegularFile(file)) {
        var members = Json.readObject(Files.readAllBytes(file)).members();
        for (var name : READ) {
          if (members.get(name) instanceof Number number) {
            defaults.put(name, number);
          }
        }
      }
    } catch (IOException e) {
      throw new UncheckedIOException("cannot read " + file, e);
    } catch (IllegalArgumentException e) {
      throw new IllegalArgumentException(file + ": " + e.getMessage(), e);
    }
    return Map.copyOf(defaults);
  }
}
