package io.dynamo.frontend;

import jakarta.servlet.annotation.WebServlet;
import jakarta.servlet.http.HttpServletRequest;
import jakarta.servlet.http.HttpServletResponse;
import java.io.IOException;
import java.io.UncheckedIOException;
import java.util.Objects;

/**
 * Dynamo's {@code GET /openapi.json}, the description of the API, and {@code GET /docs}, a page
 * made of it. The description is a file: bodies are read and written by hand, so that nothing could
 * be derived from the resources.
 */
@WebServlet(
    urlPatterns = {"/openapi.json", "/docs", "/docs/"},
    asyncSupported = true)
public class ApiDocumentServlet extends VirtualThreadServlet {
  private static final long serialVersionUID = 1L;
  private static final byte[] DOCUMENT = document();

  /** The container's page of the same description. */
  private static final String PAGE = "/openapi/ui/";

  /** The description as UTF-8 JSON. */
  static byte[] document() {
    try (var file = ApiDocumentServlet.class.getResourceAsStream("/META-INF/openapi.json")) {
      return Objects.requireNonNull(file, "the module has no META-INF/openapi.json").readAllBytes();
    } catch (IOException e) {
      throw new UncheckedIOException(e);
    }
  }

  @Override
  protected void answer(HttpServletRequest request, HttpServletResponse response)
      throws IOException {
    boolean get = request.getMethod().equals("GET");
    if (!get && !request.getMethod().equals("HEAD")) {
      response.setHeader("Allow", "GET,HEAD");
      EdgeFilter.answer(
          response, ApiError.of(405, request.getMethod() + " is not allowed here; use GET"));
    } else if (request.getServletPath().startsWith("/docs")) {
      response.setStatus(HttpServletResponse.SC_SEE_OTHER);
      response.setHeader("Location", PAGE); // relative: a proxy may have another name for the host
    } else {
      response.setContentType("application/json");
      response.setContentLength(DOCUMENT.length);
      if (get) {
        response.getOutputStream().write(DOCUMENT);
      }
    }
  }
}
