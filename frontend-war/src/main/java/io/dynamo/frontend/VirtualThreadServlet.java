package io.dynamo.frontend;

import io.dynamo.runtime.DynamoRuntime;
import jakarta.inject.Inject;
import jakarta.servlet.http.HttpServlet;
import jakarta.servlet.http.HttpServletRequest;
import jakarta.servlet.http.HttpServletResponse;
import java.io.IOException;

/** A servlet that answers {@linkplain VirtualThreadRunner on virtual threads}. */
public abstract class VirtualThreadServlet extends HttpServlet {
  private static final long serialVersionUID = 1L;

  @SuppressWarnings({"NullAway.Init", "serial"}) // injected; servlets are not serialized
  private transient VirtualThreadRunner runner;

  protected VirtualThreadServlet() {}

  @Inject
  void serveOn(DynamoRuntime runtime, FailureMeters failures) {
    runner = new VirtualThreadRunner(runtime.blocking(), failures);
  }

  @Override
  protected final void service(HttpServletRequest request, HttpServletResponse response) {
    runner.serve(request, response, () -> answer(request, response));
  }

  /**
   * Answers a request, on a virtual thread.
   *
   * @throws IOException when its client has gone, or does not read
   */
  protected abstract void answer(HttpServletRequest request, HttpServletResponse response)
      throws IOException;
}
