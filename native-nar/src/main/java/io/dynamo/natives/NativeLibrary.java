package io.dynamo.natives;

import java.io.IOException;
import java.io.InputStream;
import java.nio.file.Path;
import java.util.LinkedHashSet;
import java.util.List;
import java.util.stream.Collectors;
import org.jspecify.annotations.Nullable;

/**
 * Loads the JNI library, once per class loader, on first use; it is unloaded with the class loader.
 * The library is never required; where it is absent {@link #cause()} gives the reason.
 *
 * <p>It is copied to, and loaded from, the first folder that allows it: those given to {@link
 * #extractInto}, the JVM's temporary folder, the working directory. Safe for concurrent use.
 */
public final class NativeLibrary {
  /** Holds the outcome apart from its owner, so that folders can be named before the first use. */
  private static final class Loaded {
    static final LibraryFile.Outcome OUTCOME = load();
  }

  private static volatile List<Path> preferred = List.of();

  private NativeLibrary() {}

  /**
   * Names folders to try first, for hosts whose temporary folder is mounted noexec. Has no effect
   * on this library once it has been used.
   */
  public static void extractInto(List<Path> folders) {
    preferred = List.copyOf(folders);
  }

  /** Returns the folders that a native library may be unpacked to, in the order to try them. */
  public static List<String> extractFolders() {
    var folders = new LinkedHashSet<String>();
    preferred.forEach(folder -> folders.add(folder.toString()));
    folders.add(System.getProperty("java.io.tmpdir", "/tmp"));
    folders.add(System.getProperty("user.dir", "."));
    return List.copyOf(folders);
  }

  public static boolean isAvailable() {
    return Loaded.OUTCOME.directory() != null;
  }

  /** Returns why the library is absent, or null when it is loaded. */
  public static @Nullable String cause() {
    return isAvailable() ? null : String.join("; ", Loaded.OUTCOME.refusals());
  }

  /**
   * Describes which native libraries are available, and why others are not, as a JSON object:
   * {@code available}, {@code directory}, {@code refusals} (folders skipped) and, when it is
   * available, {@code machine} with the optional libraries. Opens those libraries, so it may take a
   * while the first time.
   */
  public static String probe() {
    var refusals =
        Loaded.OUTCOME.refusals().stream()
            .map(NativeLibrary::quoted)
            .collect(Collectors.joining(","));
    var directory = Loaded.OUTCOME.directory();
    return directory == null
        ? "{\"available\":false,\"refusals\":[" + refusals + "]}"
        : "{\"available\":true,\"directory\":%s,\"refusals\":[%s],\"machine\":%s}"
            .formatted(quoted(directory.toString()), refusals, NativeTransfer.probe());
  }

  /** Loads the library, if it was not used before. */
  static void ensureLoaded() {
    var _ = Loaded.OUTCOME;
  }

  @SuppressWarnings("restricted") // loading a library is the purpose
  private static LibraryFile.Outcome load() {
    var name =
        "META-INF/native/%s-%s/libdynamonative.so"
            .formatted(System.getProperty("os.name"), System.getProperty("os.arch"));
    return LibraryFile.load(
        name, () -> open(name), extractFolders(), file -> System.load(file.toString()));
  }

  private static @Nullable InputStream open(String name) throws IOException {
    var url = NativeLibrary.class.getClassLoader().getResource(name);
    if (url == null) {
      return null;
    }
    var connection = url.openConnection();
    connection.setUseCaches(false); // a cached jar file would outlive the class loader
    return connection.getInputStream();
  }

  private static String quoted(String text) {
    var json = new StringBuilder("\"");
    text.chars()
        .forEach(
            c -> {
              if (c == '"' || c == '\\') {
                json.append('\\').append((char) c);
              } else if (c < ' ') {
                json.append("\\u%04x".formatted(c));
              } else {
                json.append((char) c);
              }
            });
    return json.append('"').toString();
  }
}
