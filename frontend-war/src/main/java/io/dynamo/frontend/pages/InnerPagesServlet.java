package io.dynamo.frontend.pages;

import io.dynamo.frontend.AdminRoutes;
import io.dynamo.frontend.ApiError;
import io.dynamo.frontend.EdgeFilter;
import io.dynamo.frontend.FailureMeters;
import io.dynamo.frontend.VirtualThreadRunner;
import io.dynamo.runtime.DynamoRuntime;
import io.dynamo.runtime.wiring.InnerHost;
import jakarta.inject.Inject;
import jakarta.servlet.annotation.WebServlet;
import jakarta.servlet.http.HttpServlet;
import jakarta.servlet.http.HttpServletRequest;
import jakarta.servlet.http.HttpServletRequestWrapper;
import jakarta.servlet.http.HttpServletResponse;
import java.io.IOException;
import java.util.Map;
import java.util.Objects;
import java.util.Set;
import java.util.regex.Pattern;
import java.util.stream.Stream;

/**
 * Serves the container's pages ({@code /metrics}, {@code /health}) and the worker's ({@code
 * /worker}) on the HTTP port. Their modules are in the {@linkplain InnerHost virtual host that no
 * port serves}, as they would write to a client on a thread of the container's pool. Here the pool
 * makes a page in memory, and a virtual thread writes it.
 */
@WebServlet(
    urlPatterns = {
      "/metrics",
      "/metrics/*",
      "/health",
      "/health/*",
      InnerPagesServlet.WORKER + "/*"
    },
    asyncSupported = true)
public class InnerPagesServlet extends HttpServlet {
  private static final long serialVersionUID = 1L;

  static final String WORKER = AdminRoutes.WORKER;
  static final String METRICS = "/metrics";

  /** The share of the heap for all pages that are being read. */
  private static final int HEAP_PART = 64;

  /** The paths below each root that are forwarded; for others the modules write log lines. */
  static final Map<String, Set<String>> PAGES =
      Map.of(
          METRICS,
          Set.of("/"),
          "/health",
          Set.of("/", "/live", "/ready", "/started"),
          WORKER,
          Set.of("/status", "/drain"));

  private static final ApiError NO_WORKER = ApiError.of(404, "no worker runs in this server");

  /** A value of {@code scope} and {@code name}: an unknown one gets into the log. */
  private static final Pattern NAME = Pattern.compile("[\\w.:-]{1,256}");

  @SuppressWarnings({"NullAway.Init", "serial"}) // injected; servlets are not serialized
  private transient InnerHost host;

  @SuppressWarnings({"NullAway.Init", "serial"})
  private transient VirtualThreadRunner runner;

  @SuppressWarnings("serial")
  private final transient HeldPages held;

  /** For the container. */
  public InnerPagesServlet() {
    held = new HeldPages(Runtime.getRuntime().maxMemory() / HEAP_PART);
  }

  @Inject
  void configure(InnerHost host, DynamoRuntime runtime, FailureMeters failures) {
    this.host = host;
    this.runner = new VirtualThreadRunner(runtime.blocking(), failures);
  }

  @Override
  protected void service(HttpServletRequest request, HttpServletResponse response) {
    var root = request.getServletPath();
    var path = Objects.requireNonNullElse(request.getPathInfo(), "/");
    var method = request.getMethod();
    if (!root.equals(WORKER) && !method.equals("GET") && !method.equals("HEAD")) {
      response.setHeader("Allow", "GET,HEAD");
      refuse(request, response, ApiError.of(405, method + " is not allowed here; use GET or HEAD"));
      return;
    }
    if (!PAGES.getOrDefault(root, Set.of()).contains(path)
        || (root.equals(METRICS) && !hasPlainNames(request))) {
      refuse(request, response, ApiError.routeNotFound(method, request.getRequestURI()));
      return;
    }
    var module = host.find(root, path);
    if (module == null) {
      refuse(request, response, ApiError.unavailable("the server is starting or stopping", null));
      return;
    }
    var answer = new CapturedAnswer(response, (int) Math.min(Integer.MAX_VALUE, held.maxBytes()));
    runner.serveAfter(
        request,
        response,
        () -> { // asynchronous before it is forwarded: the container's modules cannot be
          module.forward(new Reading(request), answer);
          answer.finish();
          boolean hasNoWorker =
              root.equals(WORKER) && answer.getStatus() == HttpServletResponse.SC_NOT_FOUND;
          return hasNoWorker
              ? () -> EdgeFilter.answer(request, response, NO_WORKER)
              : () -> write(answer, method.equals("HEAD"), response);
        });
  }

  private static boolean hasPlainNames(HttpServletRequest request) {
    return Stream.of("scope", "name")
        .map(request::getParameter)
        .allMatch(value -> value == null || NAME.matcher(value).matches());
  }

  private void write(CapturedAnswer answer, boolean isHead, HttpServletResponse response)
      throws IOException {
    response.setStatus(answer.getStatus());
    if (answer.getContentType() != null) {
      response.setContentType(answer.getContentType());
    }
    try (var page = held.hold(answer.take())) { // nothing else keeps the bytes
      response.setContentLength(page.length());
      if (!isHead) {
        page.writeTo(response.getOutputStream());
        response.flushBuffer(); // before its memory counts as free
      }
    }
  }

  private void refuse(HttpServletRequest request, HttpServletResponse response, ApiError error) {
    runner.serve(request, response, () -> EdgeFilter.answer(request, response, error));
  }

  /**
   * A request for the page by GET, also when the client sends HEAD. The module is to write all of
   * it before it returns.
   */
  private static final class Reading extends HttpServletRequestWrapper {
    Reading(HttpServletRequest request) {
      super(request);
    }

    @Override
    public String getMethod() {
      var method = super.getMethod();
      return method.equals("HEAD") ? "GET" : method;
    }

    @Override
    public boolean isAsyncStarted() {
      return false;
    }

    @Override
    public boolean isAsyncSupported() {
      return false;
    }
  }
}
