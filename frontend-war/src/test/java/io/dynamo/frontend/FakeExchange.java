package io.dynamo.frontend;

import jakarta.servlet.ReadListener;
import jakarta.servlet.ServletInputStream;
import jakarta.servlet.ServletOutputStream;
import jakarta.servlet.WriteListener;
import jakarta.servlet.http.HttpServletRequest;
import jakarta.servlet.http.HttpServletResponse;
import java.io.ByteArrayInputStream;
import java.io.ByteArrayOutputStream;
import java.lang.reflect.Proxy;
import java.nio.charset.StandardCharsets;
import java.util.ArrayList;
import java.util.Collections;
import java.util.HashMap;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import org.jspecify.annotations.Nullable;

/**
 * One request and its answer without a container. A method of the request that no test has needed
 * yet fails. After {@link #recycle} every method of both fails, as the container may give the
 * objects to another request by then.
 */
public final class FakeExchange {
  private final Map<String, @Nullable Object> request = new HashMap<>();
  private final Map<String, List<String>> requestHeaders = new LinkedHashMap<>();
  private final Map<String, Object> attributes = new HashMap<>();
  private final Map<String, String> headers = new HashMap<>();
  private final ByteArrayOutputStream written = new ByteArrayOutputStream();
  private int status = 200;
  private boolean recycled;

  /** A request from this machine without a body. */
  public FakeExchange(String method, String uri) {
    request.put("getMethod", method);
    request.put("getRequestURI", uri);
    request.put("getProtocol", "HTTP/1.1");
    request.put("getRemoteAddr", "127.0.0.1");
    request.put("getContentType", null);
    request.put("getContentLengthLong", -1L);
    request.put("getPathInfo", null);
    request.put("getParameter", null);
    request.put("getServletPath", "");
    request.put("getServerName", "localhost");
  }

  /** Answers {@code method} of the request with {@code value}, for all arguments. */
  public FakeExchange with(String method, @Nullable Object value) {
    request.put(method, value);
    return this;
  }

  public FakeExchange withHeader(String name, String value) {
    requestHeaders.computeIfAbsent(name, _ -> new ArrayList<>()).add(value);
    return this;
  }

  public FakeExchange withBody(@Nullable String contentType, String body) {
    return with("getContentType", contentType)
        .with("getInputStream", new Input(body.getBytes(StandardCharsets.UTF_8)));
  }

  /** Makes every later use of the request or the response fail. */
  public void recycle() {
    recycled = true;
  }

  public int status() {
    return status;
  }

  /** The headers of the answer. */
  public Map<String, String> headers() {
    return headers;
  }

  /** The body of the answer. */
  public String text() {
    return written.toString(StandardCharsets.UTF_8);
  }

  public HttpServletRequest request() {
    return proxy(HttpServletRequest.class, this::ofRequest);
  }

  private @Nullable Object ofRequest(String method, Object[] arguments) {
    return switch (method) {
      case "getHeaderNames" -> Collections.enumeration(requestHeaders.keySet());
      case "getHeaders" ->
          Collections.enumeration(requestHeaders.getOrDefault((String) arguments[0], List.of()));
      case "getAttribute" -> attributes.get((String) arguments[0]);
      case "setAttribute" -> attributes.put((String) arguments[0], arguments[1]);
      default -> {
        if (!request.containsKey(method)) {
          throw new AssertionError("the request was not expected to be asked for " + method);
        }
        yield request.get(method);
      }
    };
  }

  public HttpServletResponse response() {
    return proxy(HttpServletResponse.class, this::ofResponse);
  }

  private @Nullable Object ofResponse(String method, Object[] arguments) {
    return switch (method) {
      case "setStatus" -> {
        status = (Integer) arguments[0];
        yield null;
      }
      case "getStatus" -> status;
      case "isCommitted" -> true; // the connection is the container's
      case "setHeader" -> headers.put((String) arguments[0], (String) arguments[1]);
      case "getOutputStream" -> new Output(written);
      default -> null;
    };
  }

  private interface Calls {
    @Nullable Object call(String method, Object[] arguments);
  }

  private <T> T proxy(Class<T> type, Calls calls) {
    return type.cast(
        Proxy.newProxyInstance(
            type.getClassLoader(),
            new Class<?>[] {type},
            (_, method, arguments) -> {
              if (recycled) {
                throw new AssertionError(method.getName() + " was called on a recycled object");
              }
              return calls.call(method.getName(), arguments);
            }));
  }

  private static final class Input extends ServletInputStream {
    private final ByteArrayInputStream bytes;

    Input(byte[] bytes) {
      this.bytes = new ByteArrayInputStream(bytes);
    }

    @Override
    public boolean isFinished() {
      return bytes.available() == 0;
    }

    @Override
    public boolean isReady() {
      return true;
    }

    @Override
    public void setReadListener(ReadListener listener) {}

    @Override
    public int read() {
      return bytes.read();
    }

    @Override
    public int read(byte[] into, int from, int length) {
      return bytes.read(into, from, length);
    }
  }

  private static final class Output extends ServletOutputStream {
    private final ByteArrayOutputStream to;

    Output(ByteArrayOutputStream to) {
      this.to = to;
    }

    @Override
    public boolean isReady() {
      return true;
    }

    @Override
    public void setWriteListener(WriteListener listener) {}

    @Override
    public void write(int b) {
      to.write(b);
    }
  }
}
