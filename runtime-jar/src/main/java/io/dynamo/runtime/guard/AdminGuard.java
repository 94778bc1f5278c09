package io.dynamo.runtime.guard;

import io.dynamo.pipeline.http.RequestHead;
import java.net.InetAddress;
import java.util.Collection;
import java.util.Locale;
import java.util.Set;
import java.util.stream.Collectors;
import org.jspecify.annotations.Nullable;

/**
 * Distinguishes an operator's own command from requests of others that reach the same port: a web
 * page, also one whose name was made to resolve to this address, a proxy on this machine, another
 * machine. Nothing is looked up. Immutable.
 *
 * <p>The name in {@code Host} reveals a page that had its own name resolve to this address: a
 * browser sends that name, whereas an address or {@code localhost} cannot be made to resolve
 * elsewhere.
 */
public final class AdminGuard {
  private static final Set<String> MARKS_OF_PROXIES =
      Set.of(
          "forwarded",
          "via",
          "x-real-ip",
          "x-client-ip",
          "x-cluster-client-ip",
          "x-original-forwarded-for",
          "client-ip",
          "true-client-ip",
          "cf-connecting-ip");

  private final boolean openToOthers;
  private final boolean forPages;
  private final Set<String> names;

  /**
   * Creates the guard of commands, which no web page may send.
   *
   * @param openToOthers whether other machines and proxies are allowed
   * @param names host names by which this server may be addressed, besides addresses and {@code
   *     localhost}
   */
  public AdminGuard(boolean openToOthers, Collection<String> names) {
    this(openToOthers, false, names);
  }

  private AdminGuard(boolean openToOthers, boolean forPages, Collection<String> names) {
    this.openToOthers = openToOthers;
    this.forPages = forPages;
    this.names = names.stream().map(AdminGuard::plain).collect(Collectors.toUnmodifiableSet());
  }

  /**
   * Creates the guard of a page for operators and of the data that it reads. Unlike commands, both
   * may be requested by pages of this server itself, and the page by a link on another one.
   *
   * @param openToOthers as in {@link #AdminGuard}
   * @param names as in {@link #AdminGuard}
   */
  public static AdminGuard ofPages(boolean openToOthers, Collection<String> names) {
    return new AdminGuard(openToOthers, true, names);
  }

  /**
   * The reason why a request is refused.
   *
   * @param hidden whether the answer is that there is no such route: another machine need not know
   */
  public record Objection(String message, boolean hidden) {}

  /**
   * Returns why the caller may not use an administrative route; null when it may.
   *
   * @param caller null when it is not known
   */
  public @Nullable Objection objection(@Nullable InetAddress caller, RequestHead head) {
    if (!openToOthers && (caller == null || !caller.isLoopbackAddress())) {
      return new Objection("Administrative routes are for this machine alone", true);
    }
    var page = page(head);
    if (page != null) {
      return page;
    }
    if (!openToOthers) {
      var proxy = proxy(head);
      if (proxy != null) {
        return proxy;
      }
    }
    return host(head);
  }

  private @Nullable Objection page(RequestHead head) {
    var site = head.first("sec-fetch-site");
    boolean typed = site == null || site.equals("none"); // or no browser at all
    if (forPages
        ? isOwnOrigin(head) && (typed || "same-origin".equals(site) || isLink(head))
        : typed && head.first("origin") == null) {
      return null;
    }
    return refused(
        forPages
            ? "The console is not answered to pages of other origins"
            : "Commands are not taken from web pages");
  }

  /** Whether the request names no origin, or that of this server as the caller addresses it. */
  private static boolean isOwnOrigin(RequestHead head) {
    var origin = head.first("origin");
    var host = head.first("host");
    return origin == null
        || (host != null && (origin.equals("http://" + host) || origin.equals("https://" + host)));
  }

  /** Whether a browser follows a link: no other page can read the answer. */
  private static boolean isLink(RequestHead head) {
    return "navigate".equals(head.first("sec-fetch-mode"))
        && "document".equals(head.first("sec-fetch-dest"));
  }

  private static @Nullable Objection proxy(RequestHead head) {
    for (var name : head.fields().keySet()) {
      if (MARKS_OF_PROXIES.contains(name) || name.startsWith("x-forwarded-")) {
        return refused(
            "Administrative routes are not answered through a proxy (%s); ask this server itself"
                .formatted(name));
      }
    }
    return head.version().equals("HTTP/1.1")
        ? null
        : refused(
            "Administrative routes are not answered through a proxy; one that speaks HTTP/1.0 looks"
                + " like it: use HTTP/1.1");
  }

  private @Nullable Objection host(RequestHead head) {
    var hosts = head.all("host");
    if (hosts.size() == 1 && isOurs(plain(hosts.getFirst()))) {
      return null;
    }
    return refused(
        "Administrative routes are answered under %s and localhost; dynamo.security.admin-names"
                .formatted(openToOthers ? "addresses" : "loopback addresses")
            + " names other hosts");
  }

  /** Returns a name in the form used for comparison: in lower case, without port and brackets. */
  private static String plain(String host) {
    var name = host.strip().toLowerCase(Locale.ROOT);
    if (name.startsWith("[")) {
      int end = name.indexOf(']');
      return end < 0 ? name : name.substring(1, end);
    }
    int port = name.lastIndexOf(':');
    return port < 0 || name.indexOf(':') != port ? name : name.substring(0, port);
  }

  private boolean isOurs(String host) {
    if (host.equals("localhost") || names.contains(host)) {
      return true;
    }
    try {
      var address = InetAddress.ofLiteral(host);
      return openToOthers || address.isLoopbackAddress();
    } catch (IllegalArgumentException noAddress) {
      return false;
    }
  }

  private static Objection refused(String message) {
    return new Objection(message, false);
  }
}
