package io.dynamo.frontend;

import jakarta.servlet.annotation.WebServlet;
import jakarta.servlet.http.HttpServletRequest;
import jakarta.servlet.http.HttpServletResponse;
import java.io.IOException;

/** Answers requests for paths that no other servlet is mapped to. */
@WebServlet(urlPatterns = "/", asyncSupported = true)
public class UnknownPathServlet extends VirtualThreadServlet {
  private static final long serialVersionUID = 1L;

  @Override
  protected void answer(HttpServletRequest request, HttpServletResponse response)
      throws IOException {
    EdgeFilter.answer(
        request, response, ApiError.routeNotFound(request.getMethod(), request.getRequestURI()));
  }
}
