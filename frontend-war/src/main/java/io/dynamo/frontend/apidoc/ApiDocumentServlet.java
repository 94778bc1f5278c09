package io.dynamo.frontend.apidoc;

import io.dynamo.config.frontend.RouteSettings;
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

/**
 * Serves the description of the API: the OpenAPI document at Dynamo's {@code /openapi.json} and
 * MicroProfile's {@code /openapi}, and at {@code /docs} the page that Swagger UI makes of it. The
 * document is a file: bodies are read and written by hand, so that nothing could be derived from
 * the resources.
 */
@WebServlet(
    urlPatterns = {
      "/openapi.json",
      "/openapi",
      "/openapi/*",
      ApiDocumentServlet.PAGE,
      ApiDocumentServlet.PAGE + "/*"
    },
    asyncSupported = true)
public class ApiDocumentServlet extends VirtualThreadServlet {
  private static final long serialVersionUID = 1L;

  static final String PAGE = "/docs";

  /** Swagger UI sets styles on its elements, and keeps a few pictures in its style sheet. */
  private static final String POLICY =
      "default-src 'none'; script-src 'self'; style-src 'self' 'unsafe-inline';"
          + " img-src 'self' data:; connect-src 'self'; base-uri 'none'; form-action 'none';"
          + " frame-ancestors 'none'";

  @SuppressWarnings("serial") // servlets are not serialized
  private transient RoutePaths paths = new RoutePaths(RouteSettings.STANDARD);

  @Inject
  void configure(DynamoRuntime runtime) {
    paths = new RoutePaths(runtime.settings().routes());
  }

  /** Where MicroProfile OpenAPI has its page. */
  private static boolean isOldPage(String path) {
    return path.equals("/openapi/ui") || path.startsWith("/openapi/ui/");
  }

  @Override
  protected void answer(HttpServletRequest request, HttpServletResponse response)
      throws IOException {
    var path = request.getRequestURI();
    var method = request.getMethod();
    var file = ApiDocumentFiles.at(path);
    if (file == null && !isOldPage(path)) {
      EdgeFilter.answer(request, response, ApiError.routeNotFound(method, path));
    } else if (!method.equals("GET") && !method.equals("HEAD")) {
      response.setHeader("Allow", "GET,HEAD");
      EdgeFilter.answer(
          request, response, ApiError.of(405, method + " is not allowed here; use GET or HEAD"));
    } else if (file == null) {
      response.setStatus(HttpServletResponse.SC_SEE_OTHER);
      response.setHeader("Location", PAGE); // relative: a proxy may have another name for the host
    } else {
      response.setHeader("Content-Security-Policy", POLICY);
      response.setHeader("X-Content-Type-Options", "nosniff");
      response.setHeader("X-Frame-Options", "DENY");
      response.setHeader("Referrer-Policy", "no-referrer");
      response.setContentType(file.contentType());
      boolean isDocument = file.contentType().equals("application/json");
      var body = isDocument ? paths.rewrite(file.bytes()) : file.bytes();
      response.setContentLength(body.length);
      if (method.equals("GET")) {
        response.getOutputStream().write(body);
      }
    }
  }
}
