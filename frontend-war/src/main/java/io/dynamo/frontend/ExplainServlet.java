package io.dynamo.frontend;

import io.dynamo.json.Json;
import io.dynamo.router.RouteExplanation;
import io.dynamo.router.RouteExplanations;
import jakarta.inject.Inject;
import jakarta.servlet.annotation.WebServlet;
import jakarta.servlet.http.HttpServletRequest;
import jakarta.servlet.http.HttpServletResponse;
import java.io.IOException;
import java.util.Map;
import java.util.Optional;
import java.util.regex.Pattern;
import org.jspecify.annotations.Nullable;

/**
 * How the newest requests found their worker: {@code GET /router/explain/{request-id}} and {@code
 * GET /router/explain?limit=20}. The id may have the prefix of the API, as clients hold it. Who may
 * ask is decided before, by {@link EdgeFilter}: callers of other machines only where {@code
 * dynamo.router.explain-remote} says so.
 */
@WebServlet(
    urlPatterns = {AdminRoutes.EXPLANATIONS, AdminRoutes.EXPLANATIONS + "/*"},
    asyncSupported = true)
public class ExplainServlet extends VirtualThreadServlet {
  private static final long serialVersionUID = 1L;
  private static final int STANDARD_LIMIT = 20;
  private static final int MAX_LIMIT = 1000;
  private static final Pattern API_PREFIX = Pattern.compile("^(chatcmpl|cmpl)-");

  @Inject
  @SuppressWarnings({"NullAway.Init", "serial"}) // injected; servlets are not serialized
  private transient RouteExplanations explanations;

  /** For the container. */
  public ExplainServlet() {}

  @SuppressWarnings("UnnecessaryAssignment") // for tests, which have no injection
  ExplainServlet(RouteExplanations explanations) {
    this.explanations = explanations;
  }

  @Override
  protected void answer(HttpServletRequest request, HttpServletResponse response)
      throws IOException {
    if (!request.getMethod().equals("GET")) {
      response.setHeader("Allow", "GET");
      EdgeFilter.answer(
          response, ApiError.of(405, request.getMethod() + " is not allowed here; use GET"));
      return;
    }
    var path = request.getPathInfo();
    if (path == null || path.equals("/")) {
      recent(request.getParameter("limit"), response);
    } else {
      writeDecision(path.substring(1), response);
    }
  }

  /** Returns the decision for an id as a client holds it, with or without the prefix of its API. */
  public static Optional<RouteExplanation> find(RouteExplanations among, String requestId) {
    var found = among.of(requestId); // an id of a client's own may have any form
    return found.isPresent() ? found : among.of(API_PREFIX.matcher(requestId).replaceFirst(""));
  }

  private void writeDecision(String requestId, HttpServletResponse response) throws IOException {
    var found = find(explanations, requestId);
    if (found.isPresent()) {
      answer(response, ExplanationJson.of(found.get()));
    } else {
      EdgeFilter.answer(
          response,
          ApiError.of(
              404,
              "no decision for that request is kept any more; dynamo.router.explain-capacity says"
                  + " how many are"));
    }
  }

  private void recent(@Nullable String limit, HttpServletResponse response) throws IOException {
    int wanted = STANDARD_LIMIT;
    if (limit != null) {
      try {
        wanted = Integer.parseInt(limit);
      } catch (NumberFormatException e) {
        wanted = -1;
      }
    }
    if (wanted < 0 || wanted > MAX_LIMIT) {
      EdgeFilter.answer(
          response, ApiError.of(400, "limit is not a whole number from 0 to " + MAX_LIMIT));
      return;
    }
    answer(
        response,
        Map.of(
            "decisions", explanations.recent(wanted).stream().map(ExplanationJson::of).toList()));
  }

  private static void answer(HttpServletResponse response, Map<String, ?> object)
      throws IOException {
    var body = Json.write(object);
    response.setContentType("application/json");
    response.setContentLength(body.length);
    response.getOutputStream().write(body);
  }
}
