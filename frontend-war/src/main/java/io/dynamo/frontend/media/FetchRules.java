package io.dynamo.frontend.media;

import io.dynamo.config.frontend.MediaSettings;
import io.dynamo.model.CardMedia;
import java.time.Duration;
import java.util.Collection;
import java.util.List;
import java.util.Locale;
import java.util.Map;
import org.jspecify.annotations.Nullable;

/**
 * Where media of one model may come from: the operator's rules, which the model's card can narrow
 * and never widen. What is checked here follows from the text of a URL alone; addresses are checked
 * when they are known.
 *
 * @param cardHosts the only hosts by the card; null leaves it to the operator
 * @param addresses whether a URL may name an address in place of a host
 * @param otherPorts whether a URL may name another port than its scheme's
 */
record FetchRules(
    MediaSettings settings,
    @Nullable List<String> cardHosts,
    boolean addresses,
    boolean otherPorts,
    Duration timeout,
    String userAgent) {
  private static final String USER_AGENT = "dynamo";
  private static final List<String> INSIDE_SUFFIXES =
      List.of(".localhost", ".local", ".internal", ".localdomain", ".svc", ".home.arpa");
  private static final List<String> INSIDE_NAMES =
      List.of("metadata.goog", "kubernetes.default", "localhost.localdomain");

  static FetchRules of(MediaSettings settings, CardMedia card) {
    var fetcher = card.fetcher();
    boolean inside = settings.allowsInternal();
    return new FetchRules(
        settings,
        fetcher.get("allowed_media_domains") instanceof Collection<?> hosts
            ? hosts.stream().map(host -> String.valueOf(host).toLowerCase(Locale.ROOT)).toList()
            : null,
        inside || Boolean.TRUE.equals(fetcher.get("allow_direct_ip")),
        inside || !Boolean.FALSE.equals(fetcher.get("allow_direct_port")),
        shorter(settings.timeout(), fetcher.get("timeout")),
        userAgent(fetcher.get("user_agent")));
  }

  /** The shorter of two times; the card's is {@code {secs, nanos}}. */
  private static Duration shorter(Duration own, @Nullable Object card) {
    if (card instanceof Map<?, ?> time
        && time.get("secs") instanceof Number seconds
        && seconds.longValue() >= 0
        && seconds.longValue() < own.toSeconds()) {
      long nanos = time.get("nanos") instanceof Number more ? more.longValue() : 0;
      return Duration.ofSeconds(seconds.longValue(), Math.clamp(nanos, 0, 999_999_999));
    }
    return own;
  }

  private static String userAgent(@Nullable Object card) {
    return card instanceof String name && name.matches("[!-~][ -~]{0,127}") ? name : USER_AGENT;
  }

  /**
   * Refuses a URL by its text.
   *
   * @throws MediaException when this server fetches no such URL
   */
  void check(MediaUrl url) throws MediaException {
    var host = url.host();
    if (url.isAddress() && !addresses) {
      throw refused("a URL to fetch names a host and no address");
    }
    if (!settings.allowsInternal()) {
      if (!settings.ports().contains(url.port()) || (!otherPorts && !url.hasUsualPort())) {
        throw refused("port %d is not one that media are fetched from".formatted(url.port()));
      }
      if (isInside(url)) {
        throw refused("the host of a URL to fetch is a public one");
      }
    }
    if (!settings.hosts().isEmpty()
        && settings.hosts().stream().noneMatch(it -> matches(it, host))) {
      throw refused("its host is not among dynamo.frontend.media.hosts");
    }
    if (cardHosts != null && cardHosts.stream().noneMatch(it -> matches(it, host))) {
      throw refused("its host is not among those of the model's card");
    }
  }

  /** Whether a name is one of the local network by its form: without a dot, for example. */
  private static boolean isInside(MediaUrl url) {
    var host = url.host();
    return !url.isAddress()
        && (host.indexOf('.') < 0
            || INSIDE_NAMES.contains(host)
            || INSIDE_SUFFIXES.stream().anyMatch(host::endsWith));
  }

  private static boolean matches(String pattern, String host) {
    return pattern.startsWith("*.")
        ? host.endsWith(pattern.substring(1)) && host.length() > pattern.length() - 1
        : host.equals(pattern);
  }

  private static MediaException refused(String why) {
    return new MediaException(MediaException.Reason.NOT_ALLOWED, why);
  }
}
