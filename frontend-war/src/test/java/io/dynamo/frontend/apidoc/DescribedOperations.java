package io.dynamo.frontend.apidoc;

import com.fasterxml.jackson.databind.JsonNode;
import com.fasterxml.jackson.databind.ObjectMapper;
import java.io.IOException;
import java.io.UncheckedIOException;
import java.util.Locale;
import java.util.Objects;
import java.util.Set;
import java.util.TreeSet;
import java.util.stream.Collectors;

/** The operations of {@code /openapi.json}, as {@code GET /v1/models/{model}}. */
public final class DescribedOperations {
  private DescribedOperations() {}

  /** Returns the document. */
  static JsonNode document() {
    try {
      return new ObjectMapper()
          .readTree(Objects.requireNonNull(ApiDocumentFiles.at("/openapi.json")).bytes());
    } catch (IOException e) {
      throw new UncheckedIOException(e);
    }
  }

  /** Returns all operations: the method in upper case, a space, and the path. */
  public static Set<String> all() {
    var all = new TreeSet<String>();
    document()
        .get("paths")
        .properties()
        .forEach(
            path ->
                path.getValue()
                    .properties()
                    .forEach(
                        operation ->
                            all.add(
                                operation.getKey().toUpperCase(Locale.ROOT)
                                    + " "
                                    + path.getKey())));
    return all;
  }

  /** Returns the paths of all operations. */
  public static Set<String> paths() {
    return all().stream()
        .map(operation -> operation.substring(operation.indexOf(' ') + 1))
        .collect(Collectors.toCollection(TreeSet::new));
  }
}
