package io.dynamo.frontend;

import io.dynamo.pipeline.http.RequestHead;
import io.dynamo.router.RouteExplanations;
import io.dynamo.runtime.DynamoRuntime;
import io.dynamo.runtime.wiring.ServletHeads;
import jakarta.inject.Inject;
import jakarta.servlet.FilterChain;
import jakarta.servlet.ServletException;
import jakarta.servlet.annotation.WebFilter;
import jakarta.servlet.http.HttpFilter;
import jakarta.servlet.http.HttpServletRequest;
import jakarta.servlet.http.HttpServletResponse;
import java.io.IOException;

/**
 * The first to see a request: refuses heads that two servers could read in two ways and callers
 * that may not use an administrative route, refuses compressed bodies, gives the caller its {@code
 * x-request-id} back, answers the paths below {@code /v1} that JAX-RS would take for others (a
 * slash at the end, a doubled one), sends requests for moved routes to where these are, and counts
 * what is refused on the way to an API. Answers that are written on the container's thread are held
 * back and written on a virtual thread.
 */
@WebFilter(urlPatterns = "/*", asyncSupported = true)
public class EdgeFilter extends HttpFilter {
  private static final long serialVersionUID = 1L;
  private static final String MODELS = "/v1/models";

  @Inject
  @SuppressWarnings({"NullAway.Init", "serial"}) // injected; filters are not serialized
  private transient FailureMeters failures;

  @SuppressWarnings({"NullAway.Init", "serial"})
  private transient AdminRoutes admin;

  @SuppressWarnings({"NullAway.Init", "serial"})
  private transient Answering answering;

  /** Where answers are written that nothing has taken over. */
  interface Answering {
    void serve(
        HttpServletRequest request,
        HttpServletResponse response,
        VirtualThreadRunner.Handler handler)
        throws IOException;
  }

  @SuppressWarnings({"NullAway.Init", "serial"})
  private transient RoutePaths paths;

  /** For the container. */
  public EdgeFilter() {}

  @SuppressWarnings("UnnecessaryAssignment") // for tests, which have no injection
  EdgeFilter(FailureMeters failures, AdminRoutes admin, RoutePaths paths) {
    this.failures = failures;
    this.admin = admin;
    this.answering = (_, _, handler) -> handler.run();
    this.paths = paths;
  }

  @Inject
  void configure(DynamoRuntime runtime, RouteExplanations explanations) {
    var settings = runtime.settings().server().admin();
    admin = new AdminRoutes(settings.remote(), explanations.remote(), settings.names());
    answering = new VirtualThreadRunner(runtime.blocking(), failures)::serve;
    paths = new RoutePaths(runtime.settings().routes());
  }

  @Override
  protected void doFilter(
      HttpServletRequest request, HttpServletResponse response, FilterChain chain)
      throws IOException, ServletException {
    var head = ServletHeads.of(request);
    var id = head.requestId();
    if (id != null) {
      response.setHeader("x-request-id", id);
    }
    var fault = ServletHeads.fault(head, request);
    var counting = CountingMark.attach(request);
    var path = request.getRequestURI();
    if (fault == null) {
      route(
          request, new KeepAliveResponse(request, hasBody(head), response), head, counting, chain);
    } else {
      response.setHeader("Connection", "close"); // where its body ends is not known
      refuse(request, response, ApiError.of(fault.status(), fault.message()));
    }
    if (!counting.isTaken()) { // else the request may be complete, and these objects another's
      failures.countAnswer(path, response.getStatus());
    }
  }

  private static boolean hasBody(RequestHead head) {
    var length = head.first("content-length");
    return !head.all("transfer-encoding").isEmpty() || (length != null && !length.equals("0"));
  }

  private void route(
      HttpServletRequest request,
      HttpServletResponse response,
      RequestHead head,
      CountingMark counting,
      FilterChain chain)
      throws IOException, ServletException {
    var escape = PathEscapes.fault(request.getRequestURI(), paths.published(MODELS));
    if (escape != null) {
      refuse(request, response, escape);
      return;
    }
    var coding = BodyCoding.of(head.all("content-encoding"));
    if (coding != null) {
      refuse(request, response, BodyCoding.refusal(coding));
      return;
    }
    switch (paths.of(request.getRequestURI(), decoded(request))) {
      case RoutePaths.Place.Here() -> routeHere(request, response, head, counting, chain);
      case RoutePaths.Place.Nowhere() -> refuse(request, response);
      case RoutePaths.Place.MovedFrom(var path) when isMisspelt(path) -> refuse(request, response);
      case RoutePaths.Place.MovedFrom(var path) ->
          // none of them is administrative; its answer is not held, as forwarding would end it
          request.getRequestDispatcher(path).forward(request, response);
    }
  }

  /** The path as the container reads it to find who serves it. */
  private static String decoded(HttpServletRequest request) {
    var rest = request.getPathInfo();
    return rest == null ? request.getServletPath() : request.getServletPath() + rest;
  }

  private void routeHere(
      HttpServletRequest request,
      HttpServletResponse response,
      RequestHead head,
      CountingMark counting,
      FilterChain chain)
      throws IOException, ServletException {
    var path = request.getRequestURI();
    var objection = admin.objection(request.getServletPath(), ServletHeads.caller(request), head);
    if (objection != null && !objection.hidden()) {
      refuse(request, response, ApiError.of(403, objection.message()));
    } else if (objection != null || isMisspelt(path)) {
      refuse(request, response);
    } else {
      var held = new HeldAnswer(response, counting);
      chain.doFilter(request, held);
      if (!counting.isTaken()) {
        answering.serve(request, response, held::release);
      }
    }
  }

  /** Whether JAX-RS would take the path for another one. */
  private static boolean isMisspelt(String path) {
    return path.startsWith("/v1/")
        ? path.endsWith("/") || path.contains("//")
        : path.startsWith("//");
  }

  private void refuse(HttpServletRequest request, HttpServletResponse response) throws IOException {
    refuse(request, response, ApiError.routeNotFound(request.getMethod(), request.getRequestURI()));
  }

  private void refuse(HttpServletRequest request, HttpServletResponse response, ApiError error)
      throws IOException {
    answering.serve(request, response, () -> answer(request, response, error));
  }

  /** Answers with {@code error} outside JAX-RS, in the form of the request's path. */
  public static void answer(
      HttpServletRequest request, HttpServletResponse response, ApiError error) throws IOException {
    answer(response, error, ErrorFormat.of(request.getRequestURI()));
  }

  /** Ends the connection in the middle of a streamed answer, so that it does not look complete. */
  public static void cut(HttpServletResponse response) {
    KeepAliveResponse.cut(response);
  }

  /** Answers with {@code error} outside JAX-RS. */
  public static void answer(HttpServletResponse response, ApiError error) throws IOException {
    answer(response, error, ErrorFormat.OPENAI);
  }

  private static void answer(HttpServletResponse response, ApiError error, ErrorFormat format)
      throws IOException {
    var body = format.body(error);
    response.setStatus(error.status());
    response.setContentType("application/json");
    response.setContentLength(body.length);
    if (error.retryAfterSeconds() != null) {
      response.setIntHeader("Retry-After", error.retryAfterSeconds());
    }
    response.getOutputStream().write(body);
  }
}
