package io.dynamo.config.key;

import io.dynamo.config.key.Lookup.SettingText;
import java.net.InetAddress;
import java.util.ArrayList;
import java.util.Collection;
import java.util.HashMap;
import java.util.LinkedHashSet;
import java.util.List;
import java.util.Map;
import java.util.Objects;
import java.util.Set;
import java.util.regex.Matcher;
import java.util.regex.Pattern;
import org.jspecify.annotations.Nullable;

/**
 * Reads settings one by one and collects their problems, so that all of them can be reported at
 * once. For one thread.
 */
public final class KeyReader {
  private static final Pattern REFERENCE = Pattern.compile("\\$\\{([^}:]+)(?::([^}]*))?}");

  private final Lookup lookup;
  private final Map<SettingKey<?>, Object> values = new HashMap<>(); // by the key that parsed them
  private final List<String> problems = new ArrayList<>();
  private final Set<String> unreadable = new LinkedHashSet<>(); // entries that refer to nothing set

  public KeyReader(Lookup lookup) {
    this.lookup = lookup;
  }

  /** Adds a sentence that describes the fault and its correction. */
  public void addProblem(String problem) {
    problems.add(problem);
  }

  public void addProblems(Collection<String> others) {
    problems.addAll(others);
  }

  /**
   * Ends the reading.
   *
   * @throws InvalidSettingsException when there are problems, with all of them
   */
  public void refuseProblems() {
    problems.addAll(unreadable);
    if (!problems.isEmpty()) {
      throw new InvalidSettingsException(problems);
    }
  }

  /** Reads a setting; a bad value becomes a problem, and the setting then counts as absent. */
  public <T> void take(SettingKey<T> key) {
    var found = find(key.name());
    String text;
    if (found != null) {
      text = found.text();
    } else {
      var standard = expand(key);
      if (standard == null || standard.isEmpty()) {
        return;
      }
      text = standard;
    }
    T value;
    try {
      value = key.type().parser().apply(text);
    } catch (IllegalArgumentException e) {
      problems.add(describe(key, text, found) + " " + e.getMessage() + advice(key));
      return;
    }
    if (!key.bound().holds().test(value)) {
      problems.add(describe(key, text, found) + " must be " + key.bound().text() + advice(key));
      return;
    }
    values.put(key, value);
  }

  private static String describe(SettingKey<?> key, String text, @Nullable SettingText found) {
    return "%s = \"%s\"%s"
        .formatted(
            key.name(),
            key.type().isSecret() ? "***" : text,
            found == null ? "" : " (from " + found.source() + ")");
  }

  private static String advice(SettingKey<?> key) {
    var bound = key.bound().text();
    return "; set %s%s, or leave it out for %s"
        .formatted(
            key.type().name(),
            bound.isEmpty() ? "" : " of " + bound,
            key.standard().isEmpty() ? "none" : "\"" + key.standard() + "\"");
  }

  private @Nullable SettingText find(String name) {
    SettingText found;
    try {
      found = lookup.find(name);
    } catch (IllegalArgumentException e) {
      unreadable.add(String.valueOf(e.getMessage()));
      return null;
    }
    return found == null || found.text().isBlank()
        ? null
        : new SettingText(found.text().strip(), found.source());
  }

  /**
   * Returns the default of {@code key} with its references replaced; null when one cannot be
   * resolved.
   */
  private @Nullable String expand(SettingKey<?> key) {
    var matcher = REFERENCE.matcher(key.standard());
    var text = new StringBuilder();
    while (matcher.find()) {
      var found = find(matcher.group(1));
      var value = found == null ? matcher.group(2) : found.text();
      if (value == null) {
        problems.add(
            "%s has the default \"%s\", but there is no %s here; set %s"
                .formatted(key.name(), key.standard(), matcher.group(1), key.name()));
        return null;
      }
      matcher.appendReplacement(text, Matcher.quoteReplacement(value));
    }
    return matcher.appendTail(text).toString();
  }

  /** Whether a setting has a value, either set or by default. */
  public boolean has(SettingKey<?> key) {
    return values.containsKey(key);
  }

  /** Refuses an address that other machines can reach unless {@code unless} is true. */
  public void requireLoopback(SettingKey<String> key, SettingKey<Boolean> unless) {
    if (values.get(key) instanceof String host
        && Boolean.FALSE.equals(values.get(unless))
        && !isLoopback(host)) {
      problems.add(
          "%s = \"%s\" is reachable from other machines, and nothing there asks for credentials; bind 127.0.0.1, or accept that with %s=true"
              .formatted(key.name(), host, unless.name()));
    }
  }

  /** Refuses a wildcard address, which stands for all addresses of this host. */
  public void requireOneAddress(SettingKey<String> key) {
    if (values.get(key) instanceof String host && InetAddress.ofLiteral(host).isAnyLocalAddress()) {
      problems.add(
          "%s = \"%s\" stands for every address of this host, but it is also what others connect to; name one address"
              .formatted(key.name(), host));
    }
  }

  /** Refuses each of two settings without the other. */
  public void requireTogether(SettingKey<?> one, SettingKey<?> other) {
    requireWith(one, other);
    requireWith(other, one);
  }

  /** Refuses {@code key} without {@code needed}: on its own it would have no effect. */
  public void requireWith(SettingKey<?> key, SettingKey<?> needed) {
    var value = values.get(key);
    if (value != null && !values.containsKey(needed) && find(needed.name()) == null) {
      problems.add(
          "%s = \"%s\" has no effect without %s; set both, or neither"
              .formatted(key.name(), value, needed.name()));
    }
  }

  /**
   * Whether only this machine can reach {@code host}. Names other than {@code localhost} are not
   * looked up: they count as reachable.
   */
  public static boolean isLoopback(String host) {
    if (host.equals("localhost")) {
      return true;
    }
    try {
      return InetAddress.ofLiteral(host).isLoopbackAddress();
    } catch (IllegalArgumentException _) {
      return false;
    }
  }

  /** Returns the value of a setting, its default included; null when it has none. */
  @SuppressWarnings("unchecked") // a key's value was made by its own parser
  public <T> @Nullable T optional(SettingKey<T> key) {
    return (T) values.get(key);
  }

  /** Returns the value of a setting that has a default. */
  public <T> T get(SettingKey<T> key) {
    return Objects.requireNonNull(optional(key), key.name());
  }
}
