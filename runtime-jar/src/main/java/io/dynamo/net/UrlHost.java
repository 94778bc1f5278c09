package io.dynamo.net;

import java.net.InetAddress;
import java.net.InetSocketAddress;

/** Writes hosts as URLs name them: an IPv6 address stands in brackets (RFC 3986, 3.2.2). */
public final class UrlHost {
  private UrlHost() {}

  /** Writes a host name or an address literal. */
  public static String of(String host) {
    return host.contains(":") ? "[" + host + "]" : host;
  }

  /** Writes an address. */
  public static String of(InetAddress address) {
    return of(address.getHostAddress());
  }

  /** Writes a resolved address and its port, as in {@code 127.0.0.1:8000}. */
  public static String withPort(InetSocketAddress address) {
    return of(address.getAddress()) + ":" + address.getPort();
  }
}
