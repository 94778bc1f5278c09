package io.dynamo.frontend.apidoc;

import java.io.IOException;
import java.io.UncheckedIOException;
import java.util.Map;
import java.util.Properties;
import java.util.concurrent.ConcurrentHashMap;
import org.jspecify.annotations.Nullable;

/**
 * The files that describe the API, by path: the OpenAPI document, the page, and the parts of
 * Swagger UI that the page loads. Only the listed ones exist: no path of a client reaches the class
 * path. Safe for concurrent use.
 */
final class ApiDocumentFiles {
  /** A file as it is answered. Its bytes are not changed. */
  record ApiDocumentFile(String contentType, byte[] bytes) {}

  /** A file of the class path. */
  private record Source(String contentType, String resource) {}

  private static final String FOLDER = "/META-INF/docs/";
  private static final String LIBRARY = "/META-INF/resources/webjars/swagger-ui/";
  private static final String LIBRARY_PROPERTIES =
      "/META-INF/maven/org.webjars/swagger-ui/pom.properties";
  private static final String JSON = "application/json";
  private static final String HTML = "text/html;charset=UTF-8";
  private static final String SCRIPT = "text/javascript;charset=UTF-8";
  private static final String STYLE = "text/css;charset=UTF-8";

  private static final Map<String, Source> SOURCES = sources();
  private static final Map<String, ApiDocumentFile> READ = new ConcurrentHashMap<>();

  private ApiDocumentFiles() {}

  private static Map<String, Source> sources() {
    var document = new Source(JSON, FOLDER + "openapi.json");
    var page = new Source(HTML, FOLDER + "docs.html");
    var library = LIBRARY + libraryVersion() + "/";
    return Map.of(
        "/openapi.json",
        document,
        "/openapi",
        document,
        "/docs",
        page,
        "/docs/",
        page,
        "/docs/docs.css",
        new Source(STYLE, FOLDER + "docs.css"),
        "/docs/docs.js",
        new Source(SCRIPT, FOLDER + "docs.js"),
        "/docs/swagger-ui.css",
        new Source(STYLE, library + "swagger-ui.css"),
        "/docs/swagger-ui-bundle.js",
        new Source(SCRIPT, library + "swagger-ui-bundle.js"));
  }

  private static String libraryVersion() {
    var properties = new Properties();
    try (var file = ApiDocumentFiles.class.getResourceAsStream(LIBRARY_PROPERTIES)) {
      if (file == null) {
        throw new IllegalStateException("Swagger UI is not on the class path");
      }
      properties.load(file);
    } catch (IOException e) {
      throw new UncheckedIOException(e);
    }
    return properties.getProperty("version", "");
  }

  /** Returns the file of a path; null when there is none. It is read at the first call. */
  static @Nullable ApiDocumentFile at(String path) {
    var source = SOURCES.get(path);
    return source == null ? null : READ.computeIfAbsent(source.resource(), _ -> load(source));
  }

  private static ApiDocumentFile load(Source source) {
    try (var file = ApiDocumentFiles.class.getResourceAsStream(source.resource())) {
      if (file == null) {
        throw new IllegalStateException("the application has no file " + source.resource());
      }
      return new ApiDocumentFile(source.contentType(), file.readAllBytes());
    } catch (IOException e) {
      throw new UncheckedIOException(e);
    }
  }
}
