package io.dynamo.request.tcp;

import java.net.Inet6Address;
import java.net.InetAddress;
import java.net.InetSocketAddress;

/**
 * Parses and prints addresses as they appear on the wire: IP literals only, so that no thread waits
 * for a name lookup.
 */
final class SocketAddresses {
  private SocketAddresses() {}

  /**
   * Parses {@code ip:port} or {@code [ip]:port}; Dynamo itself writes IPv6 without brackets.
   *
   * @throws IllegalArgumentException when the text has neither form
   */
  static InetSocketAddress parse(String text) {
    int colon = text.lastIndexOf(':');
    if (colon <= 0) {
      throw new IllegalArgumentException("address \"" + text + "\" is not ip:port");
    }
    try {
      return new InetSocketAddress(
          literal(text.substring(0, colon)), Integer.parseInt(text.substring(colon + 1)));
    } catch (IllegalArgumentException e) {
      throw new IllegalArgumentException("address \"" + text + "\" is not ip:port", e);
    }
  }

  /** Parses an IP literal, IPv6 with or without brackets. */
  static InetAddress literal(String host) {
    boolean bracketed = host.startsWith("[") && host.endsWith("]");
    return InetAddress.ofLiteral(bracketed ? host.substring(1, host.length() - 1) : host);
  }

  static String format(InetSocketAddress address) {
    var ip = address.getAddress();
    var host = ip.getHostAddress();
    return (ip instanceof Inet6Address ? "[" + host + "]" : host) + ":" + address.getPort();
  }
}
