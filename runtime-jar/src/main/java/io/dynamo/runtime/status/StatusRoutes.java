package io.dynamo.runtime.status;

import io.dynamo.config.watch.StatusSettings;
import io.dynamo.json.Json;
import io.dynamo.json.JsonObject;
import io.dynamo.net.PercentText;
import io.dynamo.pipeline.http.HttpAnswer;
import io.dynamo.pipeline.http.HttpCall;
import io.dynamo.pipeline.http.HttpHandler;
import io.dynamo.runtime.guard.AdminGuard;
import java.lang.System.Logger.Level;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.util.LinkedHashMap;
import java.util.Map;
import java.util.function.Supplier;
import org.jspecify.annotations.Nullable;

/** Serves Dynamo's routes of the system port, with the same answers. Safe for concurrent use. */
final class StatusRoutes implements HttpHandler {
  private static final System.Logger LOG = System.getLogger(StatusRoutes.class.getName());
  private static final String ENGINE = "/engine/";
  private static final String LORAS = "/v1/loras";
  private static final String METRICS_TYPE = "text/plain; version=0.0.4; charset=utf-8";
  private static final int METADATA_SEGMENTS = 6; // ns, comp, ep, slug, suffix, file

  private final StatusSettings settings;
  private final SystemStatus status;
  private final Supplier<String> metrics;
  private final LoraRoutes loras;
  private final AdminGuard guard;

  StatusRoutes(
      StatusSettings settings, SystemStatus status, Supplier<String> metrics, AdminGuard guard) {
    this.settings = settings;
    this.guard = guard;
    this.status = status;
    this.metrics = metrics;
    this.loras = new LoraRoutes(status.engine());
  }

  @Override
  public HttpAnswer answer(HttpCall call) throws InterruptedException {
    var answer = route(call);
    var id = call.head().requestId();
    return id == null ? answer : answer.with("x-request-id", id);
  }

  private HttpAnswer route(HttpCall call) throws InterruptedException {
    String path;
    try {
      path = PercentText.decoded(call.path());
    } catch (IllegalArgumentException e) {
      return HttpAnswer.text(400, "The path is not percent-encoded UTF-8");
    }
    if (path.equals(settings.healthPath()) || path.equals(settings.livePath())) {
      return isRead(call) ? health() : notAllowed("GET,HEAD");
    }
    if (path.equals("/metrics")) {
      return isRead(call) ? metrics() : notAllowed("GET,HEAD");
    }
    if (path.equals("/metadata")) {
      return isRead(call) ? metadata() : notAllowed("GET,HEAD");
    }
    if (path.startsWith(ENGINE) && path.length() > ENGINE.length()) {
      return guarded(call, () -> engine(path, call));
    }
    if (settings.loraRoutes() && (path.equals(LORAS) || path.startsWith(LORAS + "/"))) {
      return guarded(call, () -> loras(path, call));
    }
    if (settings.selfHost() && path.startsWith(HostedFiles.ROUTE)) {
      var name = path.substring(HostedFiles.ROUTE.length());
      if (name.split("/", METADATA_SEGMENTS).length == METADATA_SEGMENTS) {
        return isRead(call) ? file(name) : notAllowed("GET,HEAD");
      }
    }
    return HttpAnswer.text(404, "Route not found");
  }

  private HttpAnswer metadata() {
    var json = status.metadata();
    return json == null
        ? HttpAnswer.text(404, "Discovery metadata not available")
        : HttpAnswer.of(200, "application/json", json.get());
  }

  private static boolean isRead(HttpCall call) {
    return call.method().equals("GET") || call.method().equals("HEAD");
  }

  private static HttpAnswer notAllowed(String allowed) {
    return HttpAnswer.empty(405, Map.of("allow", allowed));
  }

  /** Handles a route that only administrators may use. */
  private interface Administrative {
    HttpAnswer answer() throws InterruptedException;
  }

  private HttpAnswer guarded(HttpCall call, Administrative route) throws InterruptedException {
    var objection = guard.objection(call.caller(), call.head());
    if (objection == null) {
      return route.answer();
    }
    return objection.hidden()
        ? HttpAnswer.text(404, "Route not found")
        : HttpAnswer.text(403, objection.message());
  }

  private HttpAnswer health() {
    var report = status.health().report();
    Map<String, @Nullable Object> uptime = new LinkedHashMap<>();
    uptime.put("secs", report.uptime().toSeconds());
    uptime.put("nanos", report.uptime().toNanosPart());
    Map<String, @Nullable Object> endpoints = new LinkedHashMap<>();
    report.endpoints().forEach((name, ready) -> endpoints.put(name, word(ready)));
    Map<String, @Nullable Object> json = new LinkedHashMap<>();
    json.put("status", word(report.ready()));
    json.put("uptime", uptime);
    json.put("endpoints", endpoints);
    return jsonText(report.ready() ? 200 : 503, json);
  }

  private static String word(boolean ready) {
    return ready ? "ready" : "notready";
  }

  private HttpAnswer metrics() {
    try {
      var text = status.engineMetrics().writeAfter(metrics.get());
      return HttpAnswer.of(200, METRICS_TYPE, text.getBytes(StandardCharsets.UTF_8));
    } catch (RuntimeException e) {
      LOG.log(Level.WARNING, "the metrics cannot be written", e);
      return HttpAnswer.text(500, "Failed to get metrics");
    }
  }

  private HttpAnswer engine(String path, HttpCall call) throws InterruptedException {
    JsonObject body;
    try {
      body = call.body().length == 0 ? new JsonObject(Map.of()) : Json.readObject(call.body());
    } catch (IllegalArgumentException e) {
      return error(400, "Invalid JSON", "the body " + e.getMessage());
    }
    var route = status.engine().find(path.substring(ENGINE.length()));
    if (route == null) {
      return error(404, "Route not found", "Route " + path + " not found");
    }
    if (!call.method().equals("POST") && (route.changes() || !isRead(call))) {
      return notAllowed(route.changes() ? "POST" : "GET,HEAD,POST");
    }
    if (call.body().length > 0 && !MediaTypes.isReadAsJson(call.header("content-type"))) {
      return error(
          415, "Unsupported media type", "send the body with `Content-Type: application/json`");
    }
    try {
      return HttpAnswer.of(200, "application/json", Json.write(route.handler().run(body)));
    } catch (InterruptedException e) {
      throw e;
    } catch (Exception e) {
      LOG.log(Level.WARNING, "engine route " + path + " failed", e);
      return error(500, "Handler error", String.valueOf(e.getMessage()));
    }
  }

  private static HttpAnswer error(int code, String error, String message) {
    Map<String, @Nullable Object> json = new LinkedHashMap<>();
    json.put("error", error);
    json.put("message", message);
    return jsonText(code, json);
  }

  /** Returns JSON declared as text, as Dynamo's server does. */
  private static HttpAnswer jsonText(int code, Map<String, ? extends @Nullable Object> json) {
    return HttpAnswer.of(code, "text/plain; charset=utf-8", Json.write(json));
  }

  private HttpAnswer loras(String path, HttpCall call) throws InterruptedException {
    if (path.equals(LORAS)) {
      return switch (call.method()) {
        case "GET", "HEAD" -> loras.list();
        case "POST" -> loras.load(call);
        default -> notAllowed("GET,HEAD,POST");
      };
    }
    return call.method().equals("DELETE")
        ? loras.unload(path.substring(LORAS.length() + 1))
        : notAllowed("DELETE");
  }

  private HttpAnswer file(String name) {
    var file = status.files().find(name);
    return file == null || !Files.isReadable(file)
        ? HttpAnswer.text(404, "Not found")
        : HttpAnswer.file(file);
  }
}
