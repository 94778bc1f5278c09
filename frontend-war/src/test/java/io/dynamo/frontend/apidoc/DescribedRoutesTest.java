package io.dynamo.frontend.apidoc;

import static org.assertj.core.api.Assertions.assertThat;

import io.dynamo.config.frontend.Route;
import io.dynamo.frontend.FrontendApplication;
import jakarta.servlet.annotation.WebServlet;
import jakarta.ws.rs.ApplicationPath;
import jakarta.ws.rs.HttpMethod;
import jakarta.ws.rs.Path;
import java.io.IOException;
import java.lang.reflect.Method;
import java.net.URISyntaxException;
import java.nio.file.Files;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.List;
import java.util.Set;
import java.util.TreeSet;
import java.util.regex.Pattern;
import java.util.stream.Collectors;
import java.util.stream.Stream;
import org.jspecify.annotations.Nullable;
import org.junit.jupiter.api.Test;

/** Compares the paths of servlets and resources with the description of the API. */
class DescribedRoutesTest {
  /** Pages, and what belongs to them: no client asks for these. */
  private static final Set<String> PAGES =
      Set.of(
          "",
          "/",
          "/favicon.ico",
          "/favicon.svg",
          "/home.css",
          "/console",
          "/console/*",
          "/console/data/*",
          "/docs",
          "/docs/*",
          "/openapi",
          "/openapi/*",
          "/openapi.json");

  /** A variable of a path, with the expression that its values match. */
  private static final Pattern VARIABLE = Pattern.compile("\\{ *\\w+ *(?:: *([^{}]+?))? *}");

  /**
   * An operation of a resource.
   *
   * @param path with its variables
   */
  private record Served(String method, String path) {
    /** Whether a described operation, with variables of its own, is this one. */
    boolean has(String operation) {
      var expression =
          VARIABLE
              .matcher(path.replace(": resp_", ": "))
              .replaceAll(
                  variable ->
                      variable.group(1) == null ? "[^/]+" : "(?:" + variable.group(1) + ")");
      return operation.matches(method + " " + expression);
    }

    /** The operations that this one must be described as. */
    List<String> described() {
      var choice = Pattern.compile("\\{\\w+: ([a-z|]+)}").matcher(path);
      var paths =
          choice.find()
              ? Arrays.stream(choice.group(1).split("\\|", -1)).map(choice::replaceFirst).toList()
              : List.of(path);
      return paths.stream()
          .map(each -> method + " " + VARIABLE.matcher(each).replaceAll("{}"))
          .toList();
    }
  }

  private static List<Class<?>> classes() {
    try {
      var root =
          java.nio.file.Path.of(
              ApiDocumentServlet.class.getProtectionDomain().getCodeSource().getLocation().toURI());
      try (var files = Files.walk(root)) {
        return files
            .map(file -> root.relativize(file).toString())
            .filter(name -> name.endsWith(".class") && !name.endsWith("-info.class"))
            .map(name -> name.replaceAll("\\.class$", "").replace('/', '.'))
            .<Class<?>>map(DescribedRoutesTest::load)
            .toList();
      }
    } catch (IOException | URISyntaxException e) {
      throw new IllegalStateException(e);
    }
  }

  private static Class<?> load(String name) {
    try {
      return Class.forName(name, false, DescribedRoutesTest.class.getClassLoader());
    } catch (ClassNotFoundException e) {
      throw new IllegalStateException(e);
    }
  }

  private static List<Served> resources() {
    var root = "/" + FrontendApplication.class.getAnnotation(ApplicationPath.class).value();
    var served = new ArrayList<Served>();
    for (var type : classes()) {
      var place = type.getAnnotation(Path.class);
      if (place != null) {
        for (var method : type.getDeclaredMethods()) {
          var verb = verb(method);
          if (verb != null) {
            var below = method.getAnnotation(Path.class);
            served.add(
                new Served(
                    verb, root + "/" + place.value() + (below == null ? "" : "/" + below.value())));
          }
        }
      }
    }
    return served;
  }

  private static @Nullable String verb(Method method) {
    for (var each : method.getAnnotations()) {
      var verb = each.annotationType().getAnnotation(HttpMethod.class);
      if (verb != null) {
        return verb.value();
      }
    }
    return null;
  }

  private static Set<String> patterns() {
    return classes().stream()
        .map(type -> type.getAnnotation(WebServlet.class))
        .filter(servlet -> servlet != null)
        .flatMap(servlet -> Stream.of(servlet.urlPatterns()))
        .collect(Collectors.toCollection(TreeSet::new));
  }

  @Test
  void everyOperationOfAResourceIsDescribed() {
    var described =
        DescribedOperations.all().stream()
            .map(operation -> VARIABLE.matcher(operation).replaceAll("{}"))
            .toList();
    assertThat(resources().stream().flatMap(served -> served.described().stream()))
        .hasSizeGreaterThan(20)
        .allSatisfy(operation -> assertThat(described).contains(operation));
  }

  @Test
  void everyPathOfAServletIsDescribedOrAPage() {
    var described = DescribedOperations.paths();
    var served = patterns();
    assertThat(served).hasSizeGreaterThan(20).containsAll(PAGES);
    served.removeAll(PAGES);
    assertThat(served)
        .allSatisfy(
            pattern -> {
              var place = pattern.replaceAll("/\\*$", "");
              assertThat(described)
                  .anyMatch(
                      path ->
                          path.equals(place)
                              || (pattern.endsWith("/*") && path.startsWith(place + "/")));
            });
  }

  @Test
  void everyDescribedOperationIsServed() {
    var resources = resources();
    var servlets = patterns();
    assertThat(DescribedOperations.all())
        .allSatisfy(
            operation -> {
              var path = operation.substring(operation.indexOf(' ') + 1);
              boolean ofServlet =
                  servlets.stream()
                      .anyMatch(
                          pattern ->
                              pattern.endsWith("/*")
                                  ? path.startsWith(pattern.substring(0, pattern.length() - 1))
                                  : path.equals(pattern));
              assertThat(ofServlet || resources.stream().anyMatch(it -> it.has(operation)))
                  .as(operation)
                  .isTrue();
            });
  }

  @Test
  void routesThatCanBeMovedAreDescribed() {
    assertThat(DescribedOperations.paths())
        .containsAll(Stream.of(Route.values()).map(Route::standard).toList());
  }
}
