package io.dynamo.config;

import io.dynamo.config.key.Lookup.SettingText;
import java.util.ArrayList;
import java.util.LinkedHashSet;
import java.util.List;
import java.util.Map;
import java.util.NoSuchElementException;
import java.util.Set;
import java.util.regex.Pattern;
import org.eclipse.microprofile.config.Config;
import org.eclipse.microprofile.config.ConfigValue;
import org.eclipse.microprofile.config.spi.ConfigSource;
import org.jspecify.annotations.Nullable;

/**
 * The sources of a configuration; messages name the environment variable or the file that the
 * operator wrote. Safe for concurrent use.
 */
public final class SettingSources {
  private static final Map<String, String> PLACES = // by the names that Open Liberty gives them
      Map.of(
          "SysPropConfigSource", "the system properties",
          "server.xml.variables.config.source", "the variables of server.xml",
          "server.xml.default.variables.config.source", "the variables of server.xml");

  private final Config config;
  private final Map<String, String> environment;

  public SettingSources(Config config) {
    this(config, System.getenv());
  }

  SettingSources(Config config, Map<String, String> environment) {
    this.config = config;
    this.environment = Map.copyOf(environment);
  }

  /**
   * Returns the text of {@code name} in the highest-ranking source that has it.
   *
   * @throws IllegalArgumentException when the text refers to a property that is not set
   */
  @Nullable SettingText find(String name) {
    ConfigValue value;
    try {
      value = config.getConfigValue(name);
    } catch (NoSuchElementException e) {
      throw unresolved(name, e);
    }
    var text = value.getValue();
    if (text != null) {
      return new SettingText(text, origin(name, String.valueOf(value.getSourceName())));
    }
    var raw = value.getRawValue();
    if (raw != null && raw.contains("${")) {
      throw unresolved(name, null);
    }
    return null;
  }

  private static IllegalArgumentException unresolved(String name, @Nullable Exception cause) {
    return new IllegalArgumentException(
        name
            + " refers with ${…} to something that is not set; set that, or write \\${ for the"
            + " text",
        cause);
  }

  /** Returns the variable that was set, or the place of the name. */
  private String origin(String key, String sourceName) {
    String variable = null;
    if (sourceName.equals(EnvironmentAliases.NAME)) {
      var alias = SettingKeys.alias(key, environment::get);
      variable = alias == null ? null : alias.variable();
    } else if (isEnvironment(sourceName)) {
      variable =
          UnknownNames.variables(key).stream()
              .filter(environment::containsKey)
              .findFirst()
              .orElse(null);
    }
    return variable == null ? place(sourceName) : "the variable " + variable;
  }

  private static String place(String sourceName) {
    return PLACES.getOrDefault(sourceName, sourceName);
  }

  private boolean isEnvironment(String sourceName) {
    for (var source : config.getConfigSources()) {
      if (source.getName().equals(sourceName)) {
        return isEnvironment(source.getPropertyNames());
      }
    }
    return false;
  }

  private boolean isEnvironment(Set<String> names) {
    return !environment.isEmpty() && names.containsAll(environment.keySet());
  }

  /** Returns all names that are set anywhere, once for each place. */
  Set<GivenName> names() {
    var names = new LinkedHashSet<GivenName>();
    environment.keySet().stream().sorted().map(GivenName::variable).forEach(names::add);
    for (ConfigSource source : config.getConfigSources()) {
      var its = source.getPropertyNames();
      if (!isEnvironment(its)) {
        var place = place(source.getName());
        its.stream().sorted().map(name -> GivenName.in(place, name)).forEach(names::add);
      }
    }
    return names;
  }

  /**
   * Returns for each setting whose key occurs in {@code text} the source that set it, unless the
   * text already contains that.
   */
  public List<String> namedIn(String text) {
    var lines = new ArrayList<String>();
    for (var key : SettingKeys.all()) {
      var mention =
          Pattern.compile("(?<![\\w.-])" + Pattern.quote(key.name()) + "(?![\\w-]|\\.\\w)");
      if (!mention.matcher(text).find()) {
        continue;
      }
      try {
        var found = find(key.name());
        if (found != null && !text.contains(found.source())) {
          lines.add(key.name() + " is set by " + found.source());
        }
      } catch (IllegalArgumentException _) {
        // the text contains it already
      }
    }
    return lines;
  }
}
