package io.dynamo.frontend.media;

import java.net.URI;
import java.net.URISyntaxException;
import java.util.Locale;
import org.jspecify.annotations.Nullable;

/**
 * A checked URL of {@code http} or {@code https}, without user, password and fragment.
 *
 * @param host a name in lower case without a dot at its end, or an address literal; IPv6 in
 *     brackets
 * @param target path and query as they are sent
 */
record MediaUrl(boolean secure, String host, int port, String target) {
  private static final int MAX_LENGTH = 8192;
  private static final int HTTP = 80;
  private static final int HTTPS = 443;

  /**
   * Reads a URL.
   *
   * @param base the URL that named this one in a redirect; null for none
   */
  static MediaUrl parse(String text, @Nullable MediaUrl base) throws MediaException {
    if (text.length() > MAX_LENGTH) {
      throw refused("a URL has at most %d characters".formatted(MAX_LENGTH));
    }
    URI url;
    try {
      url = new URI(text);
      if (base != null) {
        url = new URI(base.toString()).resolve(url);
      }
    } catch (URISyntaxException e) {
      throw refused("it is no URL by RFC 3986; percent-encode what is not ASCII");
    }
    var scheme = String.valueOf(url.getScheme()).toLowerCase(Locale.ROOT);
    boolean secure = scheme.equals("https");
    var host = url.getHost();
    if ((!secure && !scheme.equals("http")) || host == null || host.isEmpty()) {
      throw refused("a URL to fetch is of http or https and names a host");
    }
    if (url.getRawUserInfo() != null) {
      throw refused("a URL to fetch has no user and no password");
    }
    var path = url.getRawPath();
    var query = url.getRawQuery();
    var target = (path == null || path.isEmpty() ? "/" : path) + (query == null ? "" : "?" + query);
    if (!target.chars().allMatch(c -> c > ' ' && c < 0x7f)) {
      throw refused("what is not ASCII in a URL is percent-encoded");
    }
    int port = url.getPort() < 0 ? (secure ? HTTPS : HTTP) : url.getPort();
    return new MediaUrl(secure, plain(host), port, target);
  }

  private static String plain(String host) {
    var lower = host.toLowerCase(Locale.ROOT);
    return lower.endsWith(".") ? lower.substring(0, lower.length() - 1) : lower;
  }

  private static MediaException refused(String why) {
    return new MediaException(MediaException.Reason.NOT_ALLOWED, why);
  }

  /** Whether the host is an address and no name. */
  boolean isAddress() {
    return host.startsWith("[") || host.chars().allMatch(c -> c == '.' || (c >= '0' && c <= '9'));
  }

  /** Whether the port is the scheme's own. */
  boolean hasUsualPort() {
    return port == (secure ? HTTPS : HTTP);
  }

  /** The value of the header {@code Host}. */
  String authority() {
    return hasUsualPort() ? host : host + ":" + port;
  }

  @Override
  public String toString() {
    return (secure ? "https://" : "http://") + authority() + target;
  }
}
