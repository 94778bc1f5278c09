package io.dynamo.natives;

import java.io.File;
import java.io.IOException;
import java.io.InputStream;
import java.util.ArrayList;
import java.util.List;
import java.util.stream.Collectors;
import org.jspecify.annotations.Nullable;

/**
 * The JNI library: loaded once per class loader, on first use, and gone with it. It is never
 * required; where it is absent {@link #cause()} says why.
 *
 * <p>It is copied to, and loaded from, the first folder that allows it: those of the system
 * property {@code dynamo.native.extract-dir} (separated as a path is), the JVM's temporary folder,
 * the working directory.
 */
public final class NativeLibrary {
  /** Folders to try first, for hosts whose temporary folder is mounted noexec. */
  public static final String EXTRACT_DIR = "dynamo.native.extract-dir";

  private static final LibraryFile.Outcome OUTCOME = load();

  private NativeLibrary() {}

  public static boolean isAvailable() {
    return OUTCOME.directory() != null;
  }

  /** Why the library is absent, or null when it is there. */
  public static @Nullable String cause() {
    return isAvailable() ? null : String.join("; ", OUTCOME.refusals());
  }

  /**
   * What is there and what is not, with reasons, as a JSON object: {@code available}, {@code
   * directory}, {@code refusals} (folders passed over) and, when it is available, {@code machine}
   * with the optional libraries. Opens those libraries, so it may take a while the first time.
   */
  public static String probe() {
    var refusals =
        OUTCOME.refusals().stream().map(NativeLibrary::quoted).collect(Collectors.joining(","));
    var directory = OUTCOME.directory();
    return directory == null
        ? "{\"available\":false,\"refusals\":[" + refusals + "]}"
        : "{\"available\":true,\"directory\":%s,\"refusals\":[%s],\"machine\":%s}"
            .formatted(quoted(directory.toString()), refusals, NativeTransfer.probe());
  }

  /** Has the side effect of a first use. */
  static void ensureLoaded() {}

  @SuppressWarnings("restricted") // loading a library is the purpose
  private static LibraryFile.Outcome load() {
    var name =
        "META-INF/native/%s-%s/libdynamonative.so"
            .formatted(System.getProperty("os.name"), System.getProperty("os.arch"));
    return LibraryFile.load(
        name, () -> open(name), directories(), file -> System.load(file.toString()));
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

  private static List<String> directories() {
    var directories = new ArrayList<String>();
    for (var configured : System.getProperty(EXTRACT_DIR, "").split(File.pathSeparator, -1)) {
      if (!configured.isBlank()) {
        directories.add(configured.strip());
      }
    }
    directories.add(System.getProperty("java.io.tmpdir", "/tmp"));
    directories.add(System.getProperty("user.dir", "."));
    return directories;
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
