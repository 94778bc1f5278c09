package io.dynamo.config.plane;

import java.io.IOException;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.Objects;
import org.jspecify.annotations.Nullable;

/**
 * PEM data, either the text itself or the file that holds it.
 *
 * @param file null when {@code text} is given
 * @param text null when {@code file} is given
 */
public record PemSource(@Nullable Path file, @Nullable String text) {
  /** Reads a setting: a text that begins as PEM does is used itself, every other is a path. */
  static PemSource parse(String setting) {
    return setting.startsWith("-----BEGIN ")
        ? new PemSource(null, setting)
        : new PemSource(Path.of(setting), null);
  }

  /** Returns the PEM data. */
  public byte[] bytes() throws IOException {
    return file == null
        ? Objects.requireNonNull(text).getBytes(StandardCharsets.US_ASCII)
        : Files.readAllBytes(file);
  }

  /** Returns the file, and nothing of the text, which may be a key. */
  @Override
  public String toString() {
    return file == null ? "PEM text" : file.toString();
  }
}
