package io.dynamo.frontend;

import jakarta.inject.Inject;
import jakarta.servlet.FilterChain;
import jakarta.servlet.ServletException;
import jakarta.servlet.annotation.WebFilter;
import jakarta.servlet.http.HttpFilter;
import jakarta.servlet.http.HttpServletRequest;
import jakarta.servlet.http.HttpServletResponse;
import java.io.IOException;

/**
 * The first to see a request: gives the caller its {@code x-request-id} back, answers the paths
 * below {@code /v1} that JAX-RS would take for others (a slash at the end, a doubled one), and
 * counts what is refused on the way to an API.
 */
@WebFilter(urlPatterns = "/*", asyncSupported = true)
public class EdgeFilter extends HttpFilter {
  /** The attribute of requests that are counted where they are served. */
  public static final String ACCOUNTED = "io.dynamo.frontend.accounted";

  private static final long serialVersionUID = 1L;

  @Inject
  @SuppressWarnings({"NullAway.Init", "serial"}) // injected; filters are not serialized
  private transient FailureMeters failures;

  @Override
  protected void doFilter(
      HttpServletRequest request, HttpServletResponse response, FilterChain chain)
      throws IOException, ServletException {
    var id = request.getHeader("x-request-id");
    if (id != null) {
      response.setHeader("x-request-id", id);
    }
    var path = request.getRequestURI();
    boolean ours = path.startsWith("/v1/") || path.startsWith("//");
    if (ours && (path.endsWith("/") || path.contains("//"))) {
      answer(response, ApiError.routeNotFound(request.getMethod(), path));
    } else {
      chain.doFilter(request, response);
    }
    if (request.getAttribute(ACCOUNTED) == null) {
      count(request, response.getStatus());
    }
  }

  /** Counts what no account was opened for. A probe that says no is an answer, no failure. */
  private void count(HttpServletRequest request, int status) {
    if (status >= 400 && !request.getRequestURI().equals("/live")) {
      failures.count(ApiError.of(status, ApiError.reason(status)));
    }
  }

  /** Answers with {@code error} outside JAX-RS. */
  public static void answer(HttpServletResponse response, ApiError error) throws IOException {
    var body = error.body();
    response.setStatus(error.status());
    response.setContentType("application/json");
    response.setContentLength(body.length);
    if (error.retryAfterSeconds() != null) {
      response.setIntHeader("Retry-After", error.retryAfterSeconds());
    }
    response.getOutputStream().write(body);
  }
}
