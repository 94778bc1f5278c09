package io.dynamo.frontend.console;

import io.dynamo.config.Role;
import io.dynamo.config.SettingsListing;
import io.dynamo.frontend.AdminRoutes;
import io.dynamo.frontend.ApiError;
import io.dynamo.frontend.EdgeFilter;
import io.dynamo.frontend.ExplainServlet;
import io.dynamo.frontend.ExplanationJson;
import io.dynamo.frontend.VirtualThreadServlet;
import io.dynamo.frontend.watch.RecentFailures;
import io.dynamo.json.Json;
import io.dynamo.router.RouteExplanation;
import io.dynamo.router.RouteExplanations;
import io.dynamo.runtime.DynamoRuntime;
import jakarta.inject.Inject;
import jakarta.servlet.annotation.WebServlet;
import jakarta.servlet.http.HttpServletRequest;
import jakarta.servlet.http.HttpServletResponse;
import java.io.IOException;
import java.util.LinkedHashMap;
import java.util.Map;
import java.util.Objects;
import org.jspecify.annotations.Nullable;

/**
 * The console's data: {@code stream}, the live figures as server-sent events; {@code decisions} and
 * {@code decisions/{request-id}}, how requests found their worker; {@code failures}; {@code
 * settings}. For administrators: {@link EdgeFilter} decides before.
 */
@WebServlet(urlPatterns = AdminRoutes.CONSOLE_DATA + "/*", asyncSupported = true)
public class ConsoleDataServlet extends VirtualThreadServlet {
  private static final long serialVersionUID = 1L;
  private static final int DECISIONS = 100; // that are listed
  private static final String DECISION = "/decisions/";

  @Inject
  @SuppressWarnings({"NullAway.Init", "serial"}) // injected; servlets are not serialized
  private transient ConsoleFeed feed;

  @Inject
  @SuppressWarnings({"NullAway.Init", "serial"})
  private transient RouteExplanations explanations;

  @Inject
  @SuppressWarnings({"NullAway.Init", "serial"})
  private transient RecentFailures failures;

  @Inject
  @SuppressWarnings({"NullAway.Init", "serial"})
  private transient SettingsListing settings;

  private boolean enabled;

  /** For the container. */
  public ConsoleDataServlet() {}

  @SuppressWarnings("UnnecessaryAssignment") // for tests, which have no injection
  ConsoleDataServlet(
      ConsoleFeed feed,
      RouteExplanations explanations,
      RecentFailures failures,
      SettingsListing settings) {
    this.feed = feed;
    this.explanations = explanations;
    this.failures = failures;
    this.settings = settings;
    this.enabled = true;
  }

  @Inject
  void configure(DynamoRuntime runtime) {
    enabled = runtime.settings().server().roles().contains(Role.FRONTEND);
  }

  @Override
  protected void answer(HttpServletRequest request, HttpServletResponse response)
      throws IOException {
    var path = Objects.requireNonNullElse(request.getPathInfo(), "");
    ConsoleHeaders.put(response);
    if (!request.getMethod().equals("GET")) {
      response.setHeader("Allow", "GET");
      EdgeFilter.answer(
          response, ApiError.of(405, request.getMethod() + " is not allowed here; use GET"));
    } else if (enabled && path.equals("/stream")) {
      stream(response);
    } else if (enabled && path.equals("/decisions")) {
      json(
          response,
          Map.of(
              "decisions",
              explanations.recent(DECISIONS).stream().map(ConsoleDataServlet::summary).toList()));
    } else if (enabled && path.startsWith(DECISION)) {
      decision(path.substring(DECISION.length()), response);
    } else if (enabled && path.equals("/failures")) {
      json(
          response,
          Map.of("failures", failures.list().stream().map(ConsoleDataServlet::failure).toList()));
    } else if (enabled && path.equals("/settings")) {
      json(response, Map.of("settings", settings.members()));
    } else {
      EdgeFilter.answer(
          request, response, ApiError.routeNotFound(request.getMethod(), request.getRequestURI()));
    }
  }

  private void stream(HttpServletResponse response) throws IOException {
    try (var listener = feed.open()) {
      if (listener == null) {
        EdgeFilter.answer(
            response,
            ApiError.unavailable(
                "%d consoles are open, which is the limit, or the server is stopping; close one"
                    .formatted(ConsoleFeed.MOST_LISTENERS),
                null));
        return;
      }
      response.setContentType("text/event-stream;charset=UTF-8");
      var out = response.getOutputStream();
      for (var event = listener.next(); event != null; event = listener.next()) {
        out.write(event); // ends after the container's write timeout where the page does not read
        response.flushBuffer();
      }
    } catch (InterruptedException e) {
      Thread.currentThread().interrupt();
    }
  }

  private void decision(String requestId, HttpServletResponse response) throws IOException {
    var found = ExplainServlet.find(explanations, requestId);
    if (found.isPresent()) {
      json(response, ExplanationJson.of(found.get()));
    } else {
      EdgeFilter.answer(
          response,
          ApiError.of(
              404,
              "no decision for that request is kept any more; dynamo.router.explain-capacity says"
                  + " how many are"));
    }
  }

  /** Returns a decision without its candidates, save the chosen one. */
  private static Map<String, @Nullable Object> summary(RouteExplanation decision) {
    var json =
        new LinkedHashMap<String, @Nullable Object>(ExplanationJson.withoutCandidates(decision));
    var chosen = PrefixHits.chosen(decision);
    json.put("candidate", chosen == null ? null : ExplanationJson.of(chosen));
    return json;
  }

  private static Map<String, @Nullable Object> failure(RecentFailures.Failure failure) {
    var json = new LinkedHashMap<String, @Nullable Object>();
    json.put("at", failure.at().toEpochMilli());
    json.put("request_id", failure.requestId());
    json.put("endpoint", failure.endpoint());
    json.put("model", failure.model());
    json.put("status", failure.status());
    json.put("type", failure.type());
    json.put("message", failure.message());
    json.put("worker", failure.worker());
    json.put("trace_id", failure.traceId());
    return json;
  }

  private static void json(HttpServletResponse response, Map<String, ?> object) throws IOException {
    var body = Json.write(object);
    response.setContentType("application/json");
    response.setContentLength(body.length);
    response.getOutputStream().write(body);
  }
}
