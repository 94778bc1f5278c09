package io.dynamo.config.plane;

import java.net.Inet4Address;
import java.net.InetAddress;
import java.net.NetworkInterface;
import java.net.SocketException;
import java.util.Comparator;
import java.util.stream.Collectors;

/** Finds the address of a network interface of this host. */
final class InterfaceAddress {
  private InterfaceAddress() {}

  /**
   * Returns the address of the interface {@code name} as an IP literal: an IPv4 address if it has
   * one, otherwise an IPv6 address that is valid beyond its link.
   *
   * @throws IllegalArgumentException when there is no such interface, or it has no such address
   */
  static String of(String name) {
    try {
      var found = NetworkInterface.getByName(name);
      if (found == null) {
        throw new IllegalArgumentException(
            "this host has no such network interface; it has "
                + NetworkInterface.networkInterfaces()
                    .map(NetworkInterface::getName)
                    .sorted()
                    .collect(Collectors.joining(", ")));
      }
      return found
          .inetAddresses()
          .filter(address -> address instanceof Inet4Address || !address.isLinkLocalAddress())
          .min(Comparator.comparing(address -> !(address instanceof Inet4Address)))
          .map(InterfaceAddress::literal)
          .orElseThrow(
              () ->
                  new IllegalArgumentException(
                      "this network interface has no address; is it up and configured?"));
    } catch (SocketException e) {
      throw new IllegalArgumentException("network interfaces cannot be read: " + e.getMessage(), e);
    }
  }

  private static String literal(InetAddress address) {
    var text = address.getHostAddress();
    int scope = text.indexOf('%'); // zone of an IPv6 address
    return scope < 0 ? text : text.substring(0, scope);
  }
}
