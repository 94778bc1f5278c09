package io.dynamo.frontend.console;

import io.dynamo.config.Role;
import io.dynamo.config.frontend.RouteSettings;
import io.dynamo.frontend.AdminRoutes;
import io.dynamo.frontend.ApiError;
import io.dynamo.frontend.EdgeFilter;
import io.dynamo.frontend.RoutePaths;
import io.dynamo.frontend.VirtualThreadServlet;
import io.dynamo.runtime.DynamoRuntime;
import jakarta.inject.Inject;
import jakarta.servlet.annotation.WebServlet;
import jakarta.servlet.http.HttpServletRequest;
import jakarta.servlet.http.HttpServletResponse;
import java.io.IOException;
import java.util.Map;
import java.util.stream.Collectors;
import java.util.stream.Stream;

/**
 * The page at {@code /}, which is for everybody, and the console with its files, which is for
 * administrators: {@link EdgeFilter} decides before.
 */
@WebServlet(
    urlPatterns = {
      "",
      "/favicon.ico",
      "/favicon.svg",
      "/home.css",
      AdminRoutes.CONSOLE,
      AdminRoutes.CONSOLE + "/*"
    },
    asyncSupported = true)
public class PageServlet extends VirtualThreadServlet {
  private static final long serialVersionUID = 1L;

  /** The files below {@code /console/}. */
  private static final String[] CONSOLE_FILES = {
    "console.css",
    "console.js",
    "feed.js",
    "dom.js",
    "format.js",
    "spark.js",
    "overview.js",
    "workers.js",
    "routing.js",
    "playground.js",
    "chat.js",
    "settings.js",
    "errors.js"
  };

  static final PageFiles FILES = files();

  private boolean enabled;

  @SuppressWarnings("serial") // servlets are not serialized
  private transient RoutePaths paths = new RoutePaths(RouteSettings.STANDARD);

  /** For the container. */
  public PageServlet() {}

  PageServlet(boolean enabled) { // for tests, which have no injection
    this.enabled = enabled;
  }

  private static PageFiles files() {
    var names =
        Stream.of(CONSOLE_FILES)
            .collect(Collectors.toMap(name -> AdminRoutes.CONSOLE + "/" + name, name -> name));
    names.putAll(
        Map.of(
            "/",
            "home.html",
            "/home.css",
            "home.css",
            "/favicon.ico",
            "favicon.ico",
            "/favicon.svg",
            "favicon.svg",
            AdminRoutes.CONSOLE,
            "console.html",
            AdminRoutes.CONSOLE + "/",
            "console.html"));
    return new PageFiles(names);
  }

  @Inject
  void configure(DynamoRuntime runtime) {
    enabled = runtime.settings().server().roles().contains(Role.FRONTEND);
    paths = new RoutePaths(runtime.settings().routes());
  }

  @Override
  protected void answer(HttpServletRequest request, HttpServletResponse response)
      throws IOException {
    var file = enabled ? FILES.at(request.getRequestURI()) : null;
    boolean get = request.getMethod().equals("GET");
    if (file == null) {
      EdgeFilter.answer(
          request, response, ApiError.routeNotFound(request.getMethod(), request.getRequestURI()));
    } else if (!get && !request.getMethod().equals("HEAD")) {
      response.setHeader("Allow", "GET,HEAD");
      EdgeFilter.answer(
          response, ApiError.of(405, request.getMethod() + " is not allowed here; use GET"));
    } else {
      ConsoleHeaders.put(response);
      response.setContentType(file.contentType());
      boolean isText = file.contentType().startsWith("text/");
      var body = isText ? paths.rewrite(file.bytes()) : file.bytes();
      response.setContentLength(body.length);
      if (get) {
        response.getOutputStream().write(body);
      }
    }
  }
}
