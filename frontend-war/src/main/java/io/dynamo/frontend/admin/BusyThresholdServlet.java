package io.dynamo.frontend.admin;

import io.dynamo.concurrent.Deadline;
import io.dynamo.config.router.RouterSettings.Busy;
import io.dynamo.frontend.ApiError;
import io.dynamo.frontend.ApiException;
import io.dynamo.frontend.EdgeFilter;
import io.dynamo.frontend.VirtualThreadServlet;
import io.dynamo.frontend.admission.BodyBudget;
import io.dynamo.frontend.admission.RequestAdmission;
import io.dynamo.frontend.admission.RequestBody;
import io.dynamo.frontend.catalog.ListedNames;
import io.dynamo.frontend.catalog.ModelCatalog;
import io.dynamo.json.Json;
import io.dynamo.json.JsonObject;
import io.dynamo.router.BusyControl;
import io.dynamo.runtime.DynamoRuntime;
import jakarta.inject.Inject;
import jakarta.servlet.annotation.WebServlet;
import jakarta.servlet.http.HttpServletRequest;
import jakarta.servlet.http.HttpServletResponse;
import java.io.IOException;
import java.io.UncheckedIOException;
import java.time.Duration;
import java.util.Locale;
import java.util.Map;
import org.jspecify.annotations.Nullable;

/**
 * Dynamo's {@code /busy_threshold}: {@code GET} lists the load from which the workers of each model
 * count as busy, {@code POST} reads or sets that of one model. Models of the same workers share
 * thresholds. Answers 404 when {@code dynamo.frontend.admin-api} is off.
 */
@WebServlet(urlPatterns = "/busy_threshold", asyncSupported = true)
public class BusyThresholdServlet extends VirtualThreadServlet {
  private static final long serialVersionUID = 1L;
  private static final int BODY_BYTES = 64 * 1024;

  @Inject
  @SuppressWarnings({"NullAway.Init", "serial"}) // injected; servlets are not serialized
  private transient ModelCatalog catalog;

  @Inject
  @SuppressWarnings({"NullAway.Init", "serial"})
  private transient BusyControl workers;

  @SuppressWarnings({"NullAway.Init", "serial"})
  private transient BodyBudget bodies;

  private boolean enabled;
  private Duration uploadTimeout = Duration.ZERO; // until it is configured

  /** For the container. */
  public BusyThresholdServlet() {}

  @SuppressWarnings("UnnecessaryAssignment") // for tests, which have no injection
  BusyThresholdServlet(
      boolean enabled,
      ModelCatalog catalog,
      BusyControl workers,
      BodyBudget bodies,
      Duration uploadTimeout) {
    this.enabled = enabled;
    this.bodies = bodies;
    this.uploadTimeout = uploadTimeout;
    this.catalog = catalog;
    this.workers = workers;
  }

  @Inject
  void configure(DynamoRuntime runtime, RequestAdmission admission) {
    enabled = runtime.settings().frontend().adminApi();
    uploadTimeout = runtime.settings().frontend().uploadTimeout();
    bodies = admission.bodies();
  }

  @Override
  protected void answer(HttpServletRequest request, HttpServletResponse response)
      throws IOException {
    if (!enabled) {
      EdgeFilter.answer(
          response, ApiError.routeNotFound(request.getMethod(), request.getRequestURI()));
      return;
    }
    switch (request.getMethod()) {
      case "GET", "HEAD" -> answer(response, 200, all());
      case "POST" -> {
        try {
          answer(response, 200, changed(body(request)));
        } catch (ThresholdChange.RefusedException e) {
          answer(response, e.status(), Map.of("error", String.valueOf(e.getMessage())));
        }
      }
      default -> {
        response.setHeader("Allow", "POST,GET,HEAD");
        EdgeFilter.answer(
            response,
            ApiError.of(405, request.getMethod() + " is not allowed here; use GET or POST"));
      }
    }
  }

  private JsonObject body(HttpServletRequest request) throws IOException {
    var type = request.getContentType() == null ? "" : request.getContentType();
    var media = type.split(";", 2)[0].strip().toLowerCase(Locale.ROOT);
    if (!media.equals("application/json") && !media.matches("application/.+\\+json")) {
      throw new ThresholdChange.RefusedException(
          415, "Expected request with `Content-Type: application/json`");
    }
    try (var share = bodies.open()) {
      var body =
          RequestBody.read(
              request.getInputStream(),
              request.getContentLengthLong(),
              new RequestBody.Bounds(BODY_BYTES, "/busy_threshold", uploadTimeout),
              Deadline.after(uploadTimeout),
              share);
      return Json.readObject(body.drain());
    } catch (ApiException e) {
      throw new ThresholdChange.RefusedException(e.error().status(), e.error().message());
    } catch (IllegalArgumentException e) {
      throw new ThresholdChange.RefusedException(
          400,
          "Failed to parse the request body as JSON: "
              + ApiError.shown(String.valueOf(e.getMessage())));
    }
  }

  private Map<String, ?> all() {
    return Map.of(
        "thresholds",
        ListedNames.of(catalog).entrySet().stream()
            .map(
                it ->
                    ThresholdChange.json(it.getKey(), workers.thresholds(it.getValue().workers())))
            .toList());
  }

  private Map<String, @Nullable Object> changed(JsonObject body) {
    var change = ThresholdChange.of(body);
    var model = catalog.find(change.model());
    if (change.asksOnly()) {
      return ThresholdChange.json(
          ApiError.shown(change.model()),
          model.map(it -> workers.thresholds(it.workers())).orElse(Busy.STANDARD));
    }
    var served =
        model.orElseThrow(
            () ->
                new ThresholdChange.RefusedException(
                    404,
                    "Model '%s' not found. Thresholds can only be set for discovered models."
                        .formatted(ApiError.shown(change.model()))));
    try {
      var now = workers.changeThresholds(served.workers(), change::applied);
      for (var set : catalog.sets(change.model())) {
        if (!set.workers().equals(served.workers())) {
          workers.changeThresholds(set.workers(), _ -> now);
        }
      }
      return ThresholdChange.json(change.model(), now);
    } catch (UncheckedIOException e) {
      throw new ThresholdChange.RefusedException(
          503,
          "The thresholds were not changed everywhere: %s; try again".formatted(e.getMessage()));
    }
  }

  private static void answer(
      HttpServletResponse response, int status, Map<String, ? extends @Nullable Object> object)
      throws IOException {
    var body = Json.write(object);
    response.setStatus(status);
    response.setContentType("application/json");
    response.setContentLength(body.length);
    response.getOutputStream().write(body);
  }
}
