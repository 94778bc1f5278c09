package io.dynamo.frontend;

import io.dynamo.runtime.DynamoRuntime;
import jakarta.inject.Inject;
import jakarta.servlet.FilterChain;
import jakarta.servlet.ServletException;
import jakarta.servlet.annotation.WebFilter;
import jakarta.servlet.http.HttpFilter;
import jakarta.servlet.http.HttpServletRequest;
import jakarta.servlet.http.HttpServletResponse;
import java.io.IOException;
import java.util.Collections;
import org.jspecify.annotations.Nullable;

/**
 * Refuses compressed bodies on every path: a few bytes may become very many, and all bounds are on
 * the bytes that come.
 */
@WebFilter(urlPatterns = "/*", asyncSupported = true)
public class BodyEncodingFilter extends HttpFilter {
  private static final long serialVersionUID = 1L;

  @SuppressWarnings({"NullAway.Init", "serial"}) // injected; filters are not serialized
  private transient VirtualThreadRunner runner;

  /** For the container. */
  public BodyEncodingFilter() {}

  @Inject
  void refuseOn(DynamoRuntime runtime, FailureMeters failures) {
    runner = new VirtualThreadRunner(runtime.blocking(), failures);
  }

  @Override
  protected void doFilter(
      HttpServletRequest request, HttpServletResponse response, FilterChain chain)
      throws IOException, ServletException {
    var encoding = encoding(Collections.list(request.getHeaders("Content-Encoding")));
    if (encoding == null) {
      chain.doFilter(request, response);
    } else {
      runner.serve(
          request, response, () -> EdgeFilter.answer(request, response, refusal(encoding)));
    }
  }

  /** The first encoding that is one; null when the body comes as it is. */
  static @Nullable String encoding(Iterable<String> headers) {
    for (var given : headers) {
      for (var coding : given.split(",", -1)) {
        if (!coding.isBlank() && !coding.strip().equalsIgnoreCase("identity")) {
          return coding.strip();
        }
      }
    }
    return null;
  }

  static ApiError refusal(String encoding) {
    return ApiError.of(
        415,
        "Content-Encoding `%s` is not supported; send the body as it is, without compression"
            .formatted(ApiError.shown(encoding)));
  }
}
