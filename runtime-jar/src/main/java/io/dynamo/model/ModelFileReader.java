package io.dynamo.model;

import io.dynamo.config.plane.ModelFileSettings;
import java.io.IOException;
import java.net.InetAddress;
import java.net.URI;
import java.net.UnknownHostException;
import java.nio.channels.Channels;
import java.nio.file.Files;
import java.nio.file.LinkOption;
import java.nio.file.NoSuchFileException;
import java.nio.file.Path;
import java.nio.file.StandardOpenOption;
import java.util.HexFormat;
import java.util.List;
import java.util.Set;
import org.apache.commons.codec.digest.Blake3;
import org.jspecify.annotations.Nullable;

/**
 * Reads the files that model cards name, within bounds: a card comes from another process, so it
 * must not decide how much memory a file takes, nor cause the reading of an arbitrary file or
 * address. Safe for concurrent use.
 */
public final class ModelFileReader {
  /** The path under which workers, Dynamo's and ours, serve their files. */
  private static final String HOSTED = "/v1/metadata/";

  private static final List<Path> NO_FILES =
      List.of(Path.of("/proc"), Path.of("/sys"), Path.of("/dev"));

  private final ModelFileSettings settings;

  public ModelFileReader(ModelFileSettings settings) {
    this.settings = settings;
  }

  /**
   * Returns the bytes of {@code file}, from this machine or from the address in its path, verified
   * against the checksum. May block for two minutes.
   *
   * @param maxBytes a larger file is not read
   * @throws IOException when the file is missing, too large, does not match the card, or is in a
   *     place that may not be read
   */
  public byte[] read(ModelFile file, long maxBytes) throws IOException {
    var size = file.size();
    if (size != null && size > maxBytes) {
      throw tooLarge(file, size, maxBytes);
    }
    var content =
        file.isHosted()
            ? FileFetch.get(
                checked(file.path()), size == null || size < 0 ? maxBytes : size.longValue())
            : readLocal(file, maxBytes);
    var sum = "blake3:" + HexFormat.of().formatHex(Blake3.hash(content));
    if (!sum.equals(file.checksum())) {
      throw new IOException(
          "%s is not the file of checksum %s that the model's card names; it was changed after the worker started"
              .formatted(file.path(), file.checksum()));
    }
    return content;
  }

  /**
   * Returns the bytes of a local file in the same folder as {@code file}; null when {@code file} is
   * hosted elsewhere, or there is no such file. A card has no checksum of it.
   *
   * @param maxBytes a larger file is not read
   * @throws IOException when it is too large, or in a place that may not be read
   */
  public byte @Nullable [] readBeside(ModelFile file, String name, long maxBytes)
      throws IOException {
    if (file.isHosted()) {
      return null;
    }
    var path = local(file.path()).resolveSibling(name);
    return Files.isRegularFile(path)
        ? readLocal(new ModelFile(path.toString(), "", null), maxBytes)
        : null;
  }

  private static IOException tooLarge(ModelFile file, long bytes, long maxBytes) {
    return new IOException(
        "%s has %d bytes, more than %d; see dynamo.discovery.model-file-limit"
            .formatted(file.path(), bytes, maxBytes));
  }

  /** Returns the address if a card may have this process fetch from it. */
  private URI checked(String path) throws IOException {
    URI address;
    try {
      address = URI.create(path);
    } catch (IllegalArgumentException e) {
      throw new IOException(path + " is no address: " + e.getMessage(), e);
    }
    var host = address.getHost();
    if (host == null || address.getUserInfo() != null) {
      throw new IOException(path + " names no host to fetch a model file from");
    }
    if (settings.hosts().contains(host)) {
      return address;
    }
    if (!settings.hosts().isEmpty()) {
      throw new IOException(
          "%s is on a host that dynamo.discovery.model-hosts does not name".formatted(path));
    }
    var folder = String.valueOf(address.getPath());
    if (!folder.startsWith(HOSTED) || folder.contains("/../") || address.getQuery() != null) {
      throw new IOException(
          "%s is not below %s, where workers serve model files; name its host in dynamo.discovery.model-hosts to fetch it all the same"
              .formatted(path, HOSTED));
    }
    requireMachine(path, host);
    return address;
  }

  /**
   * Refuses link-local addresses: a cloud's own services are there, which give secrets to any
   * caller.
   */
  private static void requireMachine(String path, String host) throws IOException {
    InetAddress[] all;
    try {
      all = InetAddress.getAllByName(host);
    } catch (UnknownHostException e) {
      throw new IOException(path + " cannot be fetched: there is no host " + host, e);
    }
    for (var address : all) {
      if (address.isLinkLocalAddress()
          || address.isMulticastAddress()
          || address.isAnyLocalAddress()) {
        throw new IOException(
            "%s is at %s, an address that no worker has; name the host in dynamo.discovery.model-hosts to fetch it all the same"
                .formatted(path, address.getHostAddress()));
      }
    }
  }

  private byte[] readLocal(ModelFile file, long maxBytes) throws IOException {
    var path = local(file.path());
    Path real;
    try {
      real = path.toRealPath();
    } catch (NoSuchFileException e) {
      throw absent(file);
    }
    if (NO_FILES.stream().anyMatch(real::startsWith)) {
      throw new IOException(file.path() + " is no file of a model");
    }
    requireFolder(file, real);
    if (!Files.isRegularFile(real)) {
      throw absent(file);
    }
    long bytes = Files.size(real);
    if (bytes > maxBytes) {
      throw tooLarge(file, bytes, maxBytes);
    }
    try (var in =
        Channels.newInputStream(
            Files.newByteChannel(
                real, Set.of(StandardOpenOption.READ, LinkOption.NOFOLLOW_LINKS)))) {
      return in.readNBytes((int) bytes); // data appended meanwhile is left out
    }
  }

  private static NoSuchFileException absent(ModelFile file) {
    return new NoSuchFileException(
        file.path(), null, "the model's card names a file that is not on this machine");
  }

  private void requireFolder(ModelFile file, Path real) throws IOException {
    if (settings.folders().isEmpty()) {
      return;
    }
    for (var folder : settings.folders()) {
      if (Files.exists(folder) && real.startsWith(folder.toRealPath())) {
        return;
      }
    }
    throw new IOException(
        "%s is in none of the folders of dynamo.discovery.model-folders".formatted(file.path()));
  }

  private static Path local(String path) throws IOException {
    if (!path.contains("://")) {
      return Path.of(path);
    }
    if (path.startsWith("file://")) {
      return Path.of(URI.create(path));
    }
    throw new IOException(path + " is neither a local file nor an address of http or https");
  }
}
