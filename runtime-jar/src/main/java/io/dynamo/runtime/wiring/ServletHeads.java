package io.dynamo.runtime.wiring;

import io.dynamo.pipeline.http.HeadFault;
import io.dynamo.pipeline.http.RequestHead;
import jakarta.servlet.http.HttpServletRequest;
import java.net.InetAddress;
import java.util.Collections;
import org.jspecify.annotations.Nullable;

/** Checks the head of a request as the container passes it on. */
public final class ServletHeads {
  private ServletHeads() {}

  public static RequestHead of(HttpServletRequest request) {
    var fields = new RequestHead.Fields();
    var names = request.getHeaderNames();
    while (names.hasMoreElements()) {
      var name = names.nextElement();
      for (var value : Collections.list(request.getHeaders(name))) {
        fields.add(name, value);
      }
    }
    return fields.head(request.getMethod(), request.getProtocol());
  }

  /**
   * Returns why {@code request} is refused for its head; null when it is in order.
   *
   * @param head of that request
   */
  public static @Nullable HeadFault fault(RequestHead head, HttpServletRequest request) {
    var fault = HeadFault.in(head);
    if (fault != null) {
      return fault;
    }
    var host = head.first("host");
    return host == null || name(host).equalsIgnoreCase(name(request.getServerName()))
        ? null
        : new HeadFault(
            400, "The Host header is another than the host of the address that is asked");
  }

  /** Returns a host without port and brackets. */
  private static String name(String host) {
    int port = host.lastIndexOf(':');
    boolean hasPort = port >= 0 && (host.indexOf(':') == port || host.charAt(port - 1) == ']');
    return (hasPort ? host.substring(0, port) : host).replaceAll("^\\[|]$", "");
  }

  /**
   * Returns the caller's address; null where the container does not report one. Nothing is looked
   * up.
   */
  public static @Nullable InetAddress caller(HttpServletRequest request) {
    try {
      return InetAddress.ofLiteral(request.getRemoteAddr());
    } catch (IllegalArgumentException noAddress) {
      return null;
    }
  }
}
