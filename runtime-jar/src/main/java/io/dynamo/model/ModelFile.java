package io.dynamo.model;

import java.io.IOException;
import java.net.URI;
import java.nio.file.Files;
import java.nio.file.NoSuchFileException;
import java.nio.file.Path;
import java.util.HexFormat;
import org.apache.commons.codec.digest.Blake3;
import org.jspecify.annotations.Nullable;

/**
 * A file of a model as its card names it.
 *
 * @param path a local path, or an address to fetch it from
 * @param checksum {@code blake3:} and 64 hex digits
 * @param size in bytes, null when not told
 */
public record ModelFile(String path, String checksum, @Nullable Long size) {
  private static final long MAX_BYTES = 1L << 30; // Dynamo's own bound for one file

  /** The last part of the path. */
  public String name() {
    return path.substring(path.lastIndexOf('/') + 1);
  }

  /**
   * The bytes, from this machine or from where the path says, checked against the checksum. May
   * block for two minutes.
   *
   * @throws IOException when the file is not there, too large, or not what the card says
   */
  public byte[] read() throws IOException {
    var content = isHosted() ? FileFetch.get(URI.create(path), maxBytes()) : readLocal();
    var sum = "blake3:" + HexFormat.of().formatHex(Blake3.hash(content));
    if (!sum.equals(checksum)) {
      throw new IOException(
          "%s has checksum %s, the model's card says %s; the file was changed after the worker"
                  .formatted(path, sum, checksum)
              + " started");
    }
    return content;
  }

  private boolean isHosted() {
    return path.startsWith("http://") || path.startsWith("https://");
  }

  private long maxBytes() {
    return size == null || size < 0 ? MAX_BYTES : Math.min(size, MAX_BYTES);
  }

  private byte[] readLocal() throws IOException {
    var file = local();
    if (!Files.isRegularFile(file)) {
      throw new NoSuchFileException(
          path, null, "the model's card names a file that is not on this machine");
    }
    long bytes = Files.size(file);
    if (bytes > MAX_BYTES) {
      throw new IOException("%s has %d bytes, more than %d".formatted(path, bytes, MAX_BYTES));
    }
    return Files.readAllBytes(file);
  }

  private Path local() throws IOException {
    if (!path.contains("://")) {
      return Path.of(path);
    }
    if (path.startsWith("file://")) {
      return Path.of(URI.create(path));
    }
    throw new IOException(path + " is neither a local file nor an address of http or https");
  }
}
