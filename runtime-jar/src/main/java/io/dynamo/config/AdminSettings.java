package io.dynamo.config;

import java.util.List;

/**
 * The rules for using administrative routes. Keys: {@code dynamo.security.admin-*}.
 *
 * @param remote whether {@code /busy_threshold} answers callers of other machines and proxies
 * @param names of hosts under which this server may be asked, beside addresses and {@code
 *     localhost}
 */
public record AdminSettings(boolean remote, List<String> names) {
  public AdminSettings {
    names = List.copyOf(names);
  }
}
