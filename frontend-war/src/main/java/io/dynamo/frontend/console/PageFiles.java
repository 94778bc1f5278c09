package io.dynamo.frontend.console;

import java.io.IOException;
import java.io.UncheckedIOException;
import java.util.Map;
import java.util.concurrent.ConcurrentHashMap;
import org.jspecify.annotations.Nullable;

/**
 * The files of the pages, by path. Only the listed ones exist: no path of a client reaches the
 * class path. Safe for concurrent use.
 */
final class PageFiles {
  /** A file as it is answered. Its bytes are not changed. */
  record PageFile(String contentType, byte[] bytes) {}

  private static final String FOLDER = "/META-INF/console/";
  private static final Map<String, String> TYPES =
      Map.of(
          "html", "text/html;charset=UTF-8",
          "css", "text/css;charset=UTF-8",
          "js", "text/javascript;charset=UTF-8",
          "svg", "image/svg+xml",
          "ico", "image/x-icon");

  private final Map<String, String> names; // of files, by path
  private final Map<String, PageFile> read = new ConcurrentHashMap<>();

  /**
   * @param names of files in the module, by the path under which each is answered
   */
  PageFiles(Map<String, String> names) {
    this.names = Map.copyOf(names);
  }

  /** Returns the file of a path; null when there is none. */
  @Nullable PageFile at(String path) {
    var name = names.get(path);
    return name == null ? null : read.computeIfAbsent(name, PageFiles::load);
  }

  private static PageFile load(String name) {
    try (var file = PageFiles.class.getResourceAsStream(FOLDER + name)) {
      if (file == null) {
        throw new IllegalStateException("the module has no file " + FOLDER + name);
      }
      var type = TYPES.get(name.substring(name.lastIndexOf('.') + 1));
      if (type == null) {
        throw new IllegalStateException("the type of " + name + " is not known");
      }
      return new PageFile(type, file.readAllBytes());
    } catch (IOException e) {
      throw new UncheckedIOException(e);
    }
  }
}
