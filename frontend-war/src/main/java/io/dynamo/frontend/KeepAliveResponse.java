package io.dynamo.frontend;

import jakarta.servlet.ServletResponse;
import jakarta.servlet.ServletResponseWrapper;
import jakarta.servlet.http.HttpServletRequest;
import jakarta.servlet.http.HttpServletResponse;
import jakarta.servlet.http.HttpServletResponseWrapper;
import java.io.IOException;
import java.lang.System.Logger.Level;
import java.util.concurrent.atomic.AtomicBoolean;

/**
 * A response that keeps the connection open after an error status, as Dynamo does, when the
 * request's body was read to its end. For one thread at a time.
 *
 * <p>Open Liberty closes the connection after every error status that it knows, without a setting
 * for it; after an unknown one, such as 529, it keeps the connection. So this class sets the status
 * in Liberty's message as an unknown one, through Liberty's internal classes. Where these differ
 * from the expected ones the connection is closed, and the log says so once.
 */
final class KeepAliveResponse extends HttpServletResponseWrapper {
  private static final System.Logger LOG = System.getLogger(KeepAliveResponse.class.getName());
  private static final String CODES = "com.ibm.wsspi.http.channel.values.StatusCodes";
  private static final AtomicBoolean LOGGED = new AtomicBoolean();

  private final HttpServletRequest request;
  private final boolean hasBody;

  /**
   * @param hasBody whether the request announces a body
   */
  KeepAliveResponse(HttpServletRequest request, boolean hasBody, HttpServletResponse response) {
    super(response);
    this.request = request;
    this.hasBody = hasBody;
  }

  @Override
  public void setStatus(int status) {
    super.setStatus(status);
    if (status >= 400 && !isCommitted() && isBodyRead()) {
      keep(status);
    }
  }

  private boolean isBodyRead() {
    if (!hasBody) {
      return true;
    }
    try {
      return request.getInputStream().isFinished();
    } catch (IOException | IllegalStateException unreadable) {
      return false;
    }
  }

  private void keep(int status) {
    try {
      var message = message(getResponse());
      var codes = Class.forName(CODES, true, message.getClass().getClassLoader());
      var unknown = codes.getMethod("makeUndefinedValue", int.class).invoke(null, status);
      var type = message.getClass();
      type.getMethod("setStatusCode", codes).invoke(message, unknown);
      type.getMethod("setReasonPhrase", String.class).invoke(message, ApiError.reason(status));
    } catch (ReflectiveOperationException | RuntimeException e) {
      if (LOGGED.compareAndSet(false, true)) {
        LOG.log(Level.WARNING, "error answers close their connections: {0}", e.toString());
      }
    }
  }

  /**
   * Has the container close the connection once the request is over: for an answer that breaks off
   * after its head, whose client would wait for the rest. Through Liberty's internal classes, too;
   * where these differ, the client waits until the container closes idle connections.
   */
  static void closeWhenOver(ServletResponse response) {
    try {
      var context = ContainerInternals.call(message(response), "getServiceContext");
      context.getClass().getMethod("setPersistent", boolean.class).invoke(context, false);
    } catch (ReflectiveOperationException | RuntimeException e) {
      LOG.log(Level.DEBUG, "a connection stays open after an incomplete answer", e);
    }
  }

  /**
   * Has the container close the connection without the end of a chunked answer. Through Liberty's
   * internal classes; where these differ, the answer ends as if it were complete.
   */
  static void cut(ServletResponse response) {
    try {
      var context = ContainerInternals.call(message(response), "getServiceContext");
      context.getClass().getMethod("setPersistent", boolean.class).invoke(context, false);
      ContainerInternals.inherited(context, "setMessageSent").invoke(context);
    } catch (ReflectiveOperationException | RuntimeException e) {
      if (LOGGED.compareAndSet(false, true)) {
        LOG.log(Level.WARNING, "answers that break off look complete: {0}", e.toString());
      }
    }
  }

  private static Object message(ServletResponse response) throws ReflectiveOperationException {
    return ContainerInternals.field(
        ContainerInternals.field(
            ContainerInternals.call(container(response), "getIResponse"), "response"),
        "message");
  }

  private static ServletResponse container(ServletResponse wrapped) {
    var inner = wrapped;
    while (inner instanceof ServletResponseWrapper wrapper) {
      inner = wrapper.getResponse();
    }
    return inner;
  }
}
