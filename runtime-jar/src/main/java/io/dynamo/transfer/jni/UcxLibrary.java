package io.dynamo.transfer.jni;

import io.dynamo.config.plane.UcxMode;
import io.dynamo.config.plane.UcxSettings;
import io.dynamo.natives.NativeLibrary;
import io.dynamo.natives.NativeUcx;
import java.io.IOException;
import java.nio.charset.StandardCharsets;
import java.nio.file.DirectoryIteratorException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;
import java.util.stream.Stream;

/**
 * The UCX of this host: where its library is looked for, and the transports that it may use. Opens
 * transports; nothing is loaded before the first. Immutable.
 */
public final class UcxLibrary {
  private static final String NAME = "libucp.so.0";

  /** Where Python packages of NIXL keep the library, with a hash in its name. */
  private static final List<String> WHEELS = List.of("nixl_cu13.libs", "nixl_cu12.libs");

  /** The transports of network cards that keep a peer to the memory which its key is for. */
  private static final String RDMA = "rc,dc";

  private final UcxMode mode;
  private final List<String> candidates;

  public UcxLibrary(UcxSettings settings) {
    this.mode = settings.mode();
    var place = settings.library();
    this.candidates = place == null ? List.of(NAME) : in(place.toAbsolutePath());
  }

  /** Returns the candidates of a place that was named; never falls back to another place. */
  private static List<String> in(Path place) {
    if (!Files.isDirectory(place)) {
      return List.of(place.toString());
    }
    var found = new ArrayList<String>();
    Stream.concat(Stream.of(""), WHEELS.stream())
        .forEach(below -> addFrom(place.resolve(below), found));
    // one that is not there still gives the reason
    return found.isEmpty() ? List.of(place.resolve(NAME).toString()) : found;
  }

  private static void addFrom(Path folder, List<String> found) {
    if (!Files.isDirectory(folder)) {
      return;
    }
    try (var all = Files.newDirectoryStream(folder, "libucp{.so.0,-*.so.*}")) {
      all.forEach(file -> found.add(file.toString()));
    } catch (IOException | DirectoryIteratorException unreadable) {
      found.add(folder.resolve(NAME).toString());
    }
  }

  List<String> candidates() {
    return candidates;
  }

  boolean isForced() {
    return mode == UcxMode.ALWAYS;
  }

  private String transports() {
    return isForced() ? RDMA + ",tcp" : RDMA;
  }

  /** Starts a transport; a library that is absent is its first event. */
  UcxTransport open() {
    if (!NativeLibrary.isAvailable()) {
      throw new IllegalStateException("no native library: " + NativeLibrary.cause());
    }
    return new UcxTransport(
        NativeUcx.open(bytes(candidates), bytes(transports()), !isForced()), isForced());
  }

  /**
   * Loads the library and returns a JSON object: {@code present}, and its {@code path} and {@code
   * version} or the {@code reason}. Present is a library that has a device for its transports.
   */
  public String probe() {
    if (!NativeLibrary.isAvailable()) {
      return "{\"present\":false,\"reason\":\"no native library\"}";
    }
    var json = NativeUcx.probe(bytes(candidates), bytes(transports()));
    return json == null ? "{\"present\":false,\"reason\":\"out of memory\"}" : json;
  }

  private static byte[][] bytes(List<String> words) {
    return words.stream().map(UcxLibrary::bytes).toArray(byte[][]::new);
  }

  private static byte[] bytes(String word) {
    return word.getBytes(StandardCharsets.UTF_8);
  }
}
