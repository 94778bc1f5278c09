package io.dynamo.frontend.socket;

import java.nio.charset.StandardCharsets;
import java.security.MessageDigest;
import java.security.NoSuchAlgorithmException;
import java.util.Base64;
import java.util.Locale;
import java.util.Map;
import org.jspecify.annotations.Nullable;

/** The request by which a connection becomes a socket. */
public final class SocketHandshake {
  private static final String SUFFIX = "258EAFA5-E914-47DA-95CA-C5AB0DC85B11";
  private static final String VERSION = "13";
  private static final int KEY_BYTES = 16;

  private SocketHandshake() {}

  /**
   * Returns what is wrong with a request; null when it can become a socket.
   *
   * @param headers by lower-case name
   */
  public static @Nullable String fault(Map<String, String> headers) {
    if (!hasToken(headers.get("connection"), "upgrade")) {
      return "Connection header did not include 'upgrade'";
    }
    if (!hasToken(headers.get("upgrade"), "websocket")) {
      return "Upgrade header did not include 'websocket'";
    }
    if (!VERSION.equals(headers.get("sec-websocket-version"))) {
      return "Sec-WebSocket-Version header did not include '13'";
    }
    return isKey(headers.get("sec-websocket-key"))
        ? null
        : "Sec-WebSocket-Key header is missing, or does not hold 16 bytes in base64";
  }

  private static boolean hasToken(@Nullable String value, String token) {
    if (value == null) {
      return false;
    }
    for (var each : value.split(",", -1)) {
      if (each.strip().toLowerCase(Locale.ROOT).equals(token)) {
        return true;
      }
    }
    return false;
  }

  private static boolean isKey(@Nullable String value) {
    try {
      return value != null && Base64.getDecoder().decode(value.strip()).length == KEY_BYTES;
    } catch (IllegalArgumentException e) {
      return false;
    }
  }

  /** The proof that the key was understood, for the header {@code Sec-WebSocket-Accept}. */
  public static String accept(String key) {
    try {
      var digest = MessageDigest.getInstance("SHA-1");
      return Base64.getEncoder()
          .encodeToString(
              digest.digest((key.strip() + SUFFIX).getBytes(StandardCharsets.US_ASCII)));
    } catch (NoSuchAlgorithmException e) {
      throw new IllegalStateException("every JVM has SHA-1", e);
    }
  }
}
