package io.dynamo.event.zmq;

import java.net.InetAddress;
import java.net.InetSocketAddress;
import java.net.UnknownHostException;

/**
 * The address of a publisher: {@code tcp://host:port}, IPv6 in brackets.
 *
 * @param host a name or an IP literal, without brackets
 */
record PeerAddress(String host, int port) {
  private static final String SCHEME = "tcp://";
  private static final int MAX_PORT = 65535;

  /**
   * @throws IllegalArgumentException when {@code endpoint} has another form
   */
  static PeerAddress parse(String endpoint) {
    int colon = endpoint.lastIndexOf(':');
    if (!endpoint.startsWith(SCHEME) || colon <= SCHEME.length()) {
      throw new IllegalArgumentException("\"" + endpoint + "\" is not tcp://host:port");
    }
    var host = endpoint.substring(SCHEME.length(), colon);
    if (host.startsWith("[") && host.endsWith("]")) {
      host = host.substring(1, host.length() - 1);
    }
    int port = Integer.parseInt(endpoint.substring(colon + 1));
    if (port < 1 || port > MAX_PORT || host.isEmpty()) {
      throw new IllegalArgumentException("\"" + endpoint + "\" names no host and port");
    }
    return new PeerAddress(host, port);
  }

  boolean isLiteral() {
    try {
      InetAddress.ofLiteral(host);
      return true;
    } catch (IllegalArgumentException _) {
      return false;
    }
  }

  private boolean isIpv6() {
    return host.indexOf(':') >= 0;
  }

  /**
   * Resolves the host; takes as long as the system's resolver, unless the host is a literal.
   *
   * @throws IllegalArgumentException when there is no such host
   */
  InetSocketAddress resolved() {
    try {
      return new InetSocketAddress(InetAddress.getByName(host), port);
    } catch (UnknownHostException e) {
      throw new IllegalArgumentException("no host " + host, e);
    }
  }

  /** Returns the form used in discovery records. */
  String endpoint() {
    return SCHEME + (isIpv6() ? "[" + host + "]" : host) + ":" + port;
  }
}
