package io.dynamo.frontend.media;

import java.net.Inet4Address;
import java.net.InetAddress;
import java.net.NetworkInterface;
import java.net.SocketException;
import java.util.List;

/**
 * Tells addresses of the public internet from those that are inside some network: private,
 * loopback, link-local, shared, reserved, multicast, those of clouds' metadata services, and the
 * transition addresses that lead to them. By the IANA special-purpose registries; IPv6 is public
 * within 2000::/3 alone. Stateless.
 */
final class PublicAddresses {
  /** A range of addresses of one family. */
  private record Range(byte[] network, int bits) {
    static Range of(String text) {
      int slash = text.indexOf('/');
      return new Range(
          InetAddress.ofLiteral(text.substring(0, slash)).getAddress(),
          Integer.parseInt(text.substring(slash + 1)));
    }

    boolean holds(byte[] address) {
      if (address.length != network.length) {
        return false;
      }
      int whole = bits / Byte.SIZE;
      for (int i = 0; i < whole; i++) {
        if (address[i] != network[i]) {
          return false;
        }
      }
      int rest = bits % Byte.SIZE;
      return rest == 0
          || (address[whole] & 0xff) >> (Byte.SIZE - rest)
              == (network[whole] & 0xff) >> (Byte.SIZE - rest);
    }
  }

  private static final List<Range> INSIDE_4 =
      ranges(
          "0.0.0.0/8",
          "10.0.0.0/8",
          "100.64.0.0/10",
          "127.0.0.0/8",
          "168.63.129.16/32", // Azure's own services, on every machine there
          "169.254.0.0/16",
          "172.16.0.0/12",
          "192.0.0.0/24",
          "192.0.2.0/24",
          "192.88.99.0/24",
          "192.168.0.0/16",
          "198.18.0.0/15",
          "198.51.100.0/24",
          "203.0.113.0/24",
          "224.0.0.0/4",
          "240.0.0.0/4");
  private static final Range GLOBAL_6 = Range.of("2000::/3");
  private static final List<Range> INSIDE_6 =
      ranges(
          "2001::/23", // Teredo and other protocols
          "2001:db8::/32",
          "2002::/16", // 6to4: an IPv4 address inside
          "3fff::/20");
  private static final Range NAT64 = Range.of("64:ff9b::/96");
  private static final int NAT64_PREFIX = 12; // bytes before the IPv4 address

  private PublicAddresses() {}

  private static List<Range> ranges(String... texts) {
    return List.of(texts).stream().map(Range::of).toList();
  }

  /** Whether the address is public. Mapped IPv4 addresses are IPv4 addresses here already. */
  static boolean isPublic(InetAddress address) {
    var bytes = address.getAddress();
    if (address instanceof Inet4Address) {
      return INSIDE_4.stream().noneMatch(range -> range.holds(bytes));
    }
    if (NAT64.holds(bytes)) {
      var inner = new byte[bytes.length - NAT64_PREFIX];
      System.arraycopy(bytes, NAT64_PREFIX, inner, 0, inner.length);
      return INSIDE_4.stream().noneMatch(range -> range.holds(inner));
    }
    return GLOBAL_6.holds(bytes) && INSIDE_6.stream().noneMatch(range -> range.holds(bytes));
  }

  /** Whether the address is this machine's own: behind its firewall, public or not. */
  static boolean isOwn(InetAddress address) {
    try {
      return NetworkInterface.getByInetAddress(address) != null;
    } catch (SocketException e) {
      return true; // not known: not trusted
    }
  }
}
