package io.dynamo.model.vocabulary;

import io.dynamo.json.Json;
import io.dynamo.json.JsonObject;
import java.io.IOException;
import java.io.UncheckedIOException;
import java.nio.charset.StandardCharsets;
import java.nio.file.DirectoryIteratorException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.Map;
import org.jspecify.annotations.Nullable;

/**
 * Finds and reads the tokenizer of a model folder: {@code tokenizer.json}, else {@code
 * tiktoken.model}, else the one file whose name ends in {@code .tiktoken}. Stateless.
 */
public final class TokenizerFile {
  private static final String JSON = "tokenizer.json";
  private static final long MAX_BYTES = 512 << 20; // as much as a frontend can be told to read

  private TokenizerFile() {}

  /**
   * Returns the tokenizer of a folder; null when it has none.
   *
   * @throws IllegalArgumentException when several files could be it
   * @throws UncheckedIOException when the folder cannot be listed
   */
  public static @Nullable Path find(Path folder) {
    for (var name : new String[] {JSON, TiktokenFile.NAME}) {
      var file = folder.resolve(name);
      if (Files.isRegularFile(file)) {
        return file;
      }
    }
    var found = new ArrayList<Path>();
    try (var entries = Files.newDirectoryStream(folder, "*" + TiktokenFile.ENDING)) {
      for (var entry : entries) {
        if (Files.isRegularFile(entry)) {
          found.add(entry);
        }
      }
    } catch (IOException | DirectoryIteratorException e) {
      throw new UncheckedIOException(
          "cannot list the model directory " + folder,
          e instanceof IOException io ? io : ((DirectoryIteratorException) e).getCause());
    }
    if (found.size() > 1) {
      found.sort(null);
      throw new IllegalArgumentException(
          "model directory %s has no %s but %d vocabularies, %s and %s among them; keep one, or name it %s"
              .formatted(
                  folder,
                  JSON,
                  found.size(),
                  found.get(0).getFileName(),
                  found.get(1).getFileName(),
                  TiktokenFile.NAME));
    }
    return found.isEmpty() ? null : found.getFirst();
  }

  /**
   * Reads a tokenizer, a vocabulary of {@code tiktoken} together with the configurations beside it.
   *
   * @return in the form of a {@code tokenizer.json}
   * @throws IllegalArgumentException when it is not usable
   * @throws IOException when it cannot be read
   */
  public static JsonObject read(Path file) throws IOException {
    long size = Files.size(file);
    if (size > MAX_BYTES) {
      throw new IllegalArgumentException(
          "%s has %d bytes; a tokenizer has %d at most".formatted(file, size, MAX_BYTES));
    }
    if (!TiktokenFile.isNamed(String.valueOf(file.getFileName()))) {
      return Json.readObject(Files.readAllBytes(file));
    }
    try {
      return JsonObject.of(
          TiktokenFile.tokenizer(
              new String(Files.readAllBytes(file), StandardCharsets.ISO_8859_1),
              beside(file, "config.json"),
              beside(file, "tokenizer_config.json")));
    } catch (IllegalArgumentException e) {
      throw new IllegalArgumentException(file + ": " + e.getMessage(), e);
    }
  }

  private static Map<?, ?> beside(Path file, String name) throws IOException {
    var other = file.resolveSibling(name);
    return Files.isRegularFile(other)
            && Json.readFile(name, Files.readString(other)) instanceof Map<?, ?> map
        ? map
        : Map.of();
  }
}
