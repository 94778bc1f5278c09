package io.dynamo.config;

import java.util.List;

/**
 * The rules for using administrative routes. Keys: {@code dynamo.security.admin-*}.
 *
 * @param remote whether {@code /busy_threshold} and {@code /console} answer callers on other
 *     machines and behind proxies
 * @param names host names by which this server may be addressed, besides addresses and {@code
 *     localhost}
 */
public record AdminSettings(boolean remote, List<String> names) {
  public AdminSettings {
    names = List.copyOf(names);
  }
}
