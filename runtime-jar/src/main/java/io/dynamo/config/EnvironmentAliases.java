package io.dynamo.config;

import static java.util.Objects.requireNonNull;

import java.util.LinkedHashMap;
import java.util.Map;
import java.util.Set;
import java.util.function.Function;
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
      var alias = SettingKeys.alias(key.name(), environment);
      if (alias != null) {
        var text = requireNonNull(environment.apply(alias.variable()));
        found.put(key.name(), alias.translation().apply(text.strip()));
      }
    }
    this.values = Map.copyOf(found);
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
