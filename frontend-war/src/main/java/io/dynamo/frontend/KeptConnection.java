package io.dynamo.frontend;

import jakarta.servlet.ServletResponse;
import jakarta.servlet.ServletResponseWrapper;
import jakarta.servlet.http.HttpServletRequest;
import jakarta.servlet.http.HttpServletResponse;
import jakarta.servlet.http.HttpServletResponseWrapper;
import java.io.IOException;
import java.lang.System.Logger.Level;
import java.lang.reflect.Field;
import java.util.concurrent.atomic.AtomicBoolean;

/**
 * An answer whose connection is kept also when it tells of an error, as Dynamo keeps it, provided
 * that the request's body has been read to its end. For one thread at a time.
 *
 * <p>Open Liberty closes the connection after every status that it knows as an error, and has no
 * setting for it; after one that it does not know, such as 529, it keeps the connection. So the
 * status is put into its message as one of those, by means of its own classes. Where they are not
 * what they were the connection is closed as ever, and the log says so once.
 */
final class KeptConnection extends HttpServletResponseWrapper {
  private static final System.Logger LOG = System.getLogger(KeptConnection.class.getName());
  private static final String CODES = "com.ibm.wsspi.http.channel.values.StatusCodes";
  private static final AtomicBoolean TOLD = new AtomicBoolean();

  private final HttpServletRequest request;
  private final boolean hasBody;

  /**
   * @param hasBody whether the request announces a body
   */
  KeptConnection(HttpServletRequest request, boolean hasBody, HttpServletResponse response) {
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
      var response = container(getResponse());
      var message = field(field(call(response, "getIResponse"), "response"), "message");
      var codes = Class.forName(CODES, true, message.getClass().getClassLoader());
      var unknown = codes.getMethod("makeUndefinedValue", int.class).invoke(null, status);
      var type = message.getClass();
      type.getMethod("setStatusCode", codes).invoke(message, unknown);
      type.getMethod("setReasonPhrase", String.class).invoke(message, ApiError.reason(status));
    } catch (ReflectiveOperationException | RuntimeException e) {
      if (TOLD.compareAndSet(false, true)) {
        LOG.log(Level.WARNING, "error answers close their connections: {0}", e.toString());
      }
    }
  }

  private static ServletResponse container(ServletResponse wrapped) {
    var inner = wrapped;
    while (inner instanceof ServletResponseWrapper wrapper) {
      inner = wrapper.getResponse();
    }
    return inner;
  }

  private static Object call(Object of, String method) throws ReflectiveOperationException {
    return of.getClass().getMethod(method).invoke(of);
  }

  /** The value of a field of {@code of} or of what its class extends. */
  private static Object field(Object of, String name) throws ReflectiveOperationException {
    for (Class<?> type = of.getClass(); type != null; type = type.getSuperclass()) {
      for (Field field : type.getDeclaredFields()) {
        if (field.getName().equals(name)) {
          field.setAccessible(true);
          var value = field.get(of);
          if (value != null) {
            return value;
          }
        }
      }
    }
    throw new NoSuchFieldException(of.getClass().getName() + "." + name);
  }
}
