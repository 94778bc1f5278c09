package io.dynamo.worker.wiring;

import io.dynamo.runtime.DynamoRuntime;
import io.dynamo.runtime.guard.AdminGuard;
import io.dynamo.runtime.wiring.ServletHeads;
import jakarta.inject.Inject;
import jakarta.servlet.DispatcherType;
import jakarta.servlet.FilterChain;
import jakarta.servlet.ServletException;
import jakarta.servlet.annotation.WebFilter;
import jakarta.servlet.http.HttpFilter;
import jakarta.servlet.http.HttpServletRequest;
import jakarta.servlet.http.HttpServletResponse;
import java.io.IOException;
import java.nio.charset.StandardCharsets;

/**
 * Admits requests to {@code /worker}, before any other code sees them. All of that interface is
 * administrative: it is open only to commands from this machine, since other clients of the API
 * must not take a worker out of service. Requests come forwarded, from the module of the HTTP port.
 */
@WebFilter(
    urlPatterns = "/*",
    dispatcherTypes = {DispatcherType.REQUEST, DispatcherType.FORWARD},
    asyncSupported = true)
public class AdminFilter extends HttpFilter {
  private static final long serialVersionUID = 1L;

  @SuppressWarnings({"NullAway.Init", "serial"}) // injected; filters are not serialized
  private transient AdminGuard guard;

  /** Creates the filter for the container. */
  public AdminFilter() {}

  @SuppressWarnings("UnnecessaryAssignment") // for tests, without injection
  AdminFilter(AdminGuard guard) {
    this.guard = guard;
  }

  @Inject
  void configure(DynamoRuntime runtime) {
    guard = new AdminGuard(false, runtime.settings().server().admin().names());
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
    if (fault != null) {
      response.setHeader("Connection", "close"); // the end of its body is unknown
      refuse(response, fault.status(), fault.message());
      return;
    }
    var objection = guard.objection(ServletHeads.caller(request), head);
    if (objection == null) {
      chain.doFilter(request, response);
    } else if (objection.hidden()) {
      refuse(response, 404, "Route not found");
    } else {
      refuse(response, 403, objection.message());
    }
  }

  private static void refuse(HttpServletResponse response, int status, String message)
      throws IOException {
    var text = message.getBytes(StandardCharsets.UTF_8);
    response.setStatus(status);
    response.setContentType("text/plain; charset=utf-8");
    response.setContentLength(text.length);
    response.getOutputStream().write(text);
  }
}
