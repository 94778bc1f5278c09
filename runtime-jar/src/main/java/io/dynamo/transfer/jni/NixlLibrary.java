package io.dynamo.transfer.jni;

import io.dynamo.config.plane.NixlSettings;
import io.dynamo.natives.NativeLibrary;
import io.dynamo.natives.NativeNixl;
import io.dynamo.transfer.nixl.NixlAgent;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import java.util.TreeMap;
import java.util.stream.Stream;
import org.jspecify.annotations.Nullable;

/**
 * The NIXL of this host: where its library is looked for, and the backends of agents. Opens agents;
 * nothing is loaded before the first. Immutable.
 */
public final class NixlLibrary implements NixlAgent.Factory {
  private static final List<String> NAMES = List.of("libnixl_capi.so.0", "libnixl_capi.so");

  /** Where installations of NVIDIA's are, each with a folder for libraries below. */
  private static final List<Path> PREFIXES =
      List.of(Path.of("/opt/nvidia/nvda_nixl"), Path.of("/opt/dynamo/nixl"));

  /** Where Python packages of NIXL keep the library, beside others of the environment. */
  private static final List<String> WHEELS =
      List.of(".nixl_cu13.mesonpy.libs", ".nixl_cu12.mesonpy.libs");

  /**
   * A backend of agents.
   *
   * @param name of its plug-in, {@code UCX} for example
   * @param parameters the plug-in's own, in alphabetical order
   */
  public record Backend(String name, Map<String, String> parameters) {
    /** The backend that agents of Dynamo have. */
    public static final Backend UCX = new Backend("UCX", Map.of());

    public Backend {
      if (name.isEmpty()) {
        throw new IllegalArgumentException("a backend has a name");
      }
      parameters = Map.copyOf(new TreeMap<>(parameters));
    }
  }

  private final List<String> candidates;
  private final String pluginFolder;
  private final List<Backend> backends;

  /**
   * @param library file, folder of it, prefix of an installation, or folder of Python packages;
   *     null to look where NIXL is usually installed
   * @param pluginFolder of NIXL's plug-ins; null for the one beside the library
   * @param backends in the order of preference
   */
  public NixlLibrary(@Nullable Path library, @Nullable Path pluginFolder, List<Backend> backends) {
    this.candidates = library == null ? usual() : in(library);
    this.pluginFolder = pluginFolder == null ? "" : pluginFolder.toAbsolutePath().toString();
    this.backends = List.copyOf(backends);
  }

  /** Returns the library and the backends of a server's settings. */
  public static NixlLibrary of(NixlSettings settings) {
    return new NixlLibrary(
        settings.library(),
        settings.plugins(),
        settings.backends().stream()
            .map(name -> new Backend(name, settings.parameters().getOrDefault(name, Map.of())))
            .toList());
  }

  /** Returns the candidates of a place that was named; never falls back to another place. */
  private static List<String> in(Path place) {
    var absolute = place.toAbsolutePath();
    return Files.isDirectory(absolute) ? below(absolute) : List.of(absolute.toString());
  }

  private static List<String> usual() {
    var all = new ArrayList<>(NAMES); // the system's loader knows where
    PREFIXES.stream().filter(Files::isDirectory).forEach(prefix -> all.addAll(below(prefix)));
    return all;
  }

  private static List<String> below(Path folder) {
    var triplet = System.getProperty("os.arch").equals("aarch64") ? "aarch64" : "x86_64";
    var folders =
        Stream.concat(
            Stream.of("", "lib/" + triplet + "-linux-gnu", "lib64", "lib"), WHEELS.stream());
    var found =
        folders
            .flatMap(below -> NAMES.stream().map(name -> folder.resolve(below).resolve(name)))
            .filter(Files::exists)
            .map(Path::toString)
            .toList();
    // one that is not there still gives the reason
    return found.isEmpty() ? List.of(folder.resolve(NAMES.getLast()).toString()) : found;
  }

  List<String> candidates() {
    return candidates;
  }

  /**
   * @throws IllegalStateException never: without the native library the agent's commands fail
   */
  @Override
  public NixlAgent open(String name) {
    if (!NativeLibrary.isAvailable()) {
      return new AbsentNixlAgent("no native library: " + NativeLibrary.cause());
    }
    var words = new ArrayList<String>();
    for (var backend : backends) {
      words.add(backend.name());
      words.add(String.valueOf(backend.parameters().size()));
      new TreeMap<>(backend.parameters())
          .forEach(
              (key, value) -> {
                words.add(key);
                words.add(value);
              });
    }
    return new NativeNixlAgent(
        name, NativeNixl.open(bytes(candidates), bytes(pluginFolder), bytes(name), bytes(words)));
  }

  /**
   * Loads the library and returns a JSON object: {@code present}, and its {@code path} and {@code
   * plugins} or the {@code reason}. May take a second.
   */
  public String probe() {
    if (!NativeLibrary.isAvailable()) {
      return "{\"present\":false,\"reason\":\"no native library\"}";
    }
    var json = NativeNixl.probe(bytes(candidates), bytes(pluginFolder));
    return json == null ? "{\"present\":false,\"reason\":\"out of memory\"}" : json;
  }

  private static byte[][] bytes(List<String> words) {
    return words.stream().map(NixlLibrary::bytes).toArray(byte[][]::new);
  }

  private static byte[] bytes(String word) {
    return word.getBytes(StandardCharsets.UTF_8);
  }
}
