package io.dynamo.frontend.health;

import io.dynamo.frontend.ApiError;
import io.dynamo.frontend.EdgeFilter;
import io.dynamo.frontend.VirtualThreadServlet;
import jakarta.servlet.annotation.WebServlet;
import jakarta.servlet.http.HttpServletRequest;
import jakarta.servlet.http.HttpServletResponse;
import java.io.IOException;
import java.nio.charset.StandardCharsets;

/** Dynamo's {@code GET /live}. */
@WebServlet(urlPatterns = "/live", asyncSupported = true)
public class LiveServlet extends VirtualThreadServlet {
  private static final long serialVersionUID = 1L;
  private static final byte[] BODY =
      "{\"status\":\"live\",\"message\":\"Service is live\"}".getBytes(StandardCharsets.US_ASCII);

  @Override
  protected void answer(HttpServletRequest request, HttpServletResponse response)
      throws IOException {
    switch (request.getMethod()) {
      case "GET", "HEAD" -> {
        response.setContentType("application/json");
        response.setContentLength(BODY.length);
        if (request.getMethod().equals("GET")) {
          response.getOutputStream().write(BODY);
        }
      }
      default -> {
        response.setHeader("Allow", "GET,HEAD");
        EdgeFilter.answer(
            response,
            ApiError.of(405, request.getMethod() + " is not allowed here; use GET or HEAD"));
      }
    }
  }
}
