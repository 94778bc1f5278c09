package io.dynamo.config;

import static java.util.Objects.requireNonNull;

import java.util.LinkedHashMap;
import java.util.Map;
import java.util.Set;
import java.util.function.Function;
import org.eclipse.microprofile.config.spi.ConfigSource;
import org.jspecify.annotations.Nullable;

/**
 * Translates the environment names of the original Dynamo, where a setting of ours means the same.
 * Ranks below the environment names of MicroProfile Config ({@code DYNAMO_HTTP_PORT}), above every
 * file. A value that cannot be translated is passed on unchanged, for the setting to refuse.
 * Immutable.
 */
public final class EnvironmentAliases implements ConfigSource {
  static final int ORDINAL = 290;
  static final String NAME = "DYN_* environment";

  private final Map<String, String> values;

  /** Creates a source over the process's environment, for the service loader. */
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
