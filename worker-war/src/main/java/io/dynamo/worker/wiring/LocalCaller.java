package io.dynamo.worker.wiring;

import java.net.InetAddress;
import java.util.List;
import java.util.function.Function;
import org.jspecify.annotations.Nullable;

/**
 * Tells an operator's own command on this machine from everybody else: from the network, through a
 * proxy beside the server, or from a web page that was led here.
 */
final class LocalCaller {
  private static final List<String> MARKS_OF_OTHERS =
      List.of("Origin", "Forwarded", "X-Forwarded-For", "X-Real-IP", "Via");

  private LocalCaller() {}

  /**
   * @param remote the caller's address, a literal
   * @param host the name under which it asked, without port
   * @param header gives a header's value, or null
   */
  static boolean is(String remote, String host, Function<String, @Nullable String> header) {
    return isLoopback(remote)
        && (host.equals("localhost") || isLoopback(host.replaceAll("^\\[|\\]$", "")))
        && MARKS_OF_OTHERS.stream().allMatch(name -> header.apply(name) == null);
  }

  /**
   * @param address a literal: nothing is looked up
   */
  private static boolean isLoopback(String address) {
    try {
      return InetAddress.ofLiteral(address).isLoopbackAddress();
    } catch (IllegalArgumentException _) {
      return false;
    }
  }
}
