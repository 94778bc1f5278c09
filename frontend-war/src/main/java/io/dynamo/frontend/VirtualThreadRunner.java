package io.dynamo.frontend;

import io.dynamo.error.FailureShape;
import jakarta.servlet.ServletException;
import jakarta.servlet.http.HttpServletRequest;
import jakarta.servlet.http.HttpServletResponse;
import java.io.IOException;
import java.lang.System.Logger.Level;
import java.util.concurrent.Executor;

/**
 * Serves requests of servlets and filters on virtual threads. The container has few threads: a
 * client that sends its body slowly, or does not read its answer, would hold one of them. Safe for
 * concurrent use.
 */
public final class VirtualThreadRunner {
  private static final System.Logger LOG = System.getLogger(VirtualThreadRunner.class.getName());

  private final Executor blocking;
  private final FailureMeters failures;

  /** Reads one request and writes its answer, on a virtual thread. */
  public interface Handler {
    void run() throws IOException;
  }

  /**
   * Performs the steps that need the container's thread, and returns the task that writes the
   * answer.
   */
  public interface Preparation {
    Handler run() throws IOException, ServletException;
  }

  /**
   * @param blocking runs each task on a virtual thread of its own
   * @param failures counts answers of 400 and more
   */
  public VirtualThreadRunner(Executor blocking, FailureMeters failures) {
    this.blocking = blocking;
    this.failures = failures;
  }

  /** Starts {@code handler} and returns. The request ends when the handler returns or throws. */
  public void serve(HttpServletRequest request, HttpServletResponse response, Handler handler) {
    serveAfter(request, response, () -> handler);
  }

  /**
   * Runs {@code preparation} here, starts the handler that it returns, and returns. The request
   * ends when the preparation throws, or the handler returns or throws.
   */
  public void serveAfter(
      HttpServletRequest request, HttpServletResponse response, Preparation preparation) {
    CountingMark.take(request);
    var async = request.startAsync(request, response);
    async.setTimeout(0); // reads and writes have limits of their own
    try {
      var handler = prepare(response, preparation);
      blocking.execute(
          () -> {
            try {
              run(response, handler);
              failures.countAnswer(request.getRequestURI(), response.getStatus());
            } finally {
              async.complete();
            }
          });
    } catch (RuntimeException | Error e) {
      async.complete();
      throw e;
    }
  }

  private static Handler prepare(HttpServletResponse response, Preparation preparation) {
    try {
      return preparation.run();
    } catch (IOException | ServletException e) {
      LOG.log(Level.ERROR, "a request failed unexpectedly", FailureShape.of(e));
      return () -> EdgeFilter.answer(response, ApiError.of(e));
    }
  }

  private static void run(HttpServletResponse response, Handler handler) {
    try {
      try {
        handler.run();
      } catch (RuntimeException e) {
        LOG.log(Level.ERROR, "a request failed unexpectedly", FailureShape.of(e));
        if (!response.isCommitted()) {
          EdgeFilter.answer(response, ApiError.of(e));
        }
      }
      response.flushBuffer(); // here, and not on the pool when the request is over
    } catch (IOException e) { // the client left, or does not read
      LOG.log(Level.DEBUG, "an answer could not be written", FailureShape.of(e));
      KeepAliveResponse.closeWhenOver(response);
    }
  }
}
