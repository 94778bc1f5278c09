package io.dynamo.config;

import io.dynamo.config.key.Alias;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.Set;
import java.util.function.Function;
import java.util.stream.Collectors;
import org.eclipse.microprofile.config.spi.ConfigSource;
import org.jspecify.annotations.Nullable;

/**
 * The environment names of the original Dynamo, as far as a setting of ours means the same. Below
 * the environment names of MicroProfile Config ({@code DYNAMO_HTTP_PORT}), above every file. What
 * cannot be translated is passed on as it stands, for the setting to refuse. Immutable.
 */
public final class EnvironmentAliases implements ConfigSource {
  static final int ORDINAL = 290;
  static final String NAME = "DYN_* environment";

  private final Map<String, String> values;

  /** Of the process's environment: what the service loader makes. */
  public EnvironmentAliases() {
    this(System::getenv);
  }

  EnvironmentAliases(Function<String, @Nullable String> environment) {
    var found = new LinkedHashMap<String, String>();
    for (var key : SettingKeys.all()) {
      for (var alias : key.aliases()) {
        var text = environment.apply(alias.variable());
        if (text != null && !text.isBlank()) {
          found.put(key.name(), alias.translation().apply(text.strip()));
        }
      }
    }
    this.values = Map.copyOf(found);
  }

  /** The variable that {@code key} has its value from; null when none of its own is set. */
  static @Nullable String variable(String key, Function<String, @Nullable String> environment) {
    String variable = null;
    for (var setting : SettingKeys.all()) {
      for (var alias : setting.name().equals(key) ? setting.aliases() : List.<Alias>of()) {
        var text = environment.apply(alias.variable());
        if (text != null && !text.isBlank()) {
          variable = alias.variable(); // of several, the later counts
        }
      }
    }
    return variable;
  }

  /** The names that are understood. */
  static Set<String> variables() {
    return SettingKeys.all().stream()
        .flatMap(key -> key.aliases().stream())
        .map(Alias::variable)
        .collect(Collectors.toUnmodifiableSet());
  }

  @Override
  public Map<String, String> getProperties() {
    return values;
  }

  @Override
  public Set<String> getPropertyNames() {
    return values.keySet();
  }

  @Override
  public @Nullable String getValue(String name) {
    return values.get(name);
  }

  @Override
  public int getOrdinal() {
    return ORDINAL;
  }

  @Override
  public String getName() {
    return NAME;
  }
}
