package io.dynamo.model;

import io.dynamo.model.vocabulary.TiktokenFile;
import org.jspecify.annotations.Nullable;

/**
 * A file of a model as its card names it; {@link ModelFileReader} reads it.
 *
 * @param path a local path, or an address to fetch it from
 * @param checksum {@code blake3:} and 64 hex digits
 * @param size in bytes, null when unknown
 */
public record ModelFile(String path, String checksum, @Nullable Long size) {
  /** Returns the last part of the path. */
  public String name() {
    return path.substring(path.lastIndexOf('/') + 1);
  }

  /** Whether the file is a vocabulary of {@code tiktoken}, and no {@code tokenizer.json}. */
  public boolean isTiktoken() {
    return TiktokenFile.isNamed(name());
  }

  /** Whether the path is an address to fetch the file from. */
  boolean isHosted() {
    return path.startsWith("http://") || path.startsWith("https://");
  }
}
