package io.dynamo.config;

import java.util.LinkedHashSet;
import java.util.List;
import java.util.Locale;
import java.util.Map;
import java.util.NoSuchElementException;
import java.util.Optional;
import java.util.Set;
import org.eclipse.microprofile.config.Config;
import org.eclipse.microprofile.config.ConfigValue;
import org.eclipse.microprofile.config.spi.ConfigSource;
import org.eclipse.microprofile.config.spi.Converter;
import org.jspecify.annotations.Nullable;

/** A configuration of given sources, the strongest first, under the names that Open Liberty has. */
record FakeConfig(List<ConfigSource> sources) implements Config {
  /** A source of {@code values}. */
  static ConfigSource source(String name, Map<String, String> values) {
    return new Source(name, values);
  }

  /** The environment: a key is found under its own name or as a variable is spelled. */
  static ConfigSource environment(Map<String, String> variables) {
    return new Source("EnvConfigSource", variables) {
      @Override
      public @Nullable String getValue(String key) {
        var underscored = key.replaceAll("[^A-Za-z0-9]", "_");
        var own = variables.get(key);
        var replaced = variables.getOrDefault(underscored, own);
        return own == null
            ? variables.getOrDefault(underscored.toUpperCase(Locale.ROOT), replaced)
            : own;
      }
    };
  }

  private static class Source implements ConfigSource {
    private final String name;
    private final Map<String, String> values;

    Source(String name, Map<String, String> values) {
      this.name = name;
      this.values = values;
    }

    @Override
    public Set<String> getPropertyNames() {
      return values.keySet();
    }

    @Override
    public @Nullable String getValue(String key) {
      return values.get(key);
    }

    @Override
    public String getName() {
      return name;
    }
  }

  /** A text and where it was found; a reference that leads nowhere has no value. */
  private record Value(String name, @Nullable String raw, @Nullable String source)
      implements ConfigValue {
    @Override
    public String getName() {
      return name;
    }

    @Override
    public @Nullable String getValue() {
      return raw == null || raw.contains("${") ? null : raw;
    }

    @Override
    public @Nullable String getRawValue() {
      return raw;
    }

    @Override
    public @Nullable String getSourceName() {
      return source;
    }

    @Override
    public int getSourceOrdinal() {
      return 0;
    }
  }

  @Override
  public ConfigValue getConfigValue(String key) {
    for (var source : sources) {
      var raw = source.getValue(key);
      if (raw != null) {
        return new Value(key, raw, source.getName());
      }
    }
    return new Value(key, null, null);
  }

  @Override
  public Iterable<String> getPropertyNames() {
    var names = new LinkedHashSet<String>();
    sources.forEach(source -> names.addAll(source.getPropertyNames()));
    return names;
  }

  @Override
  public Iterable<ConfigSource> getConfigSources() {
    return sources;
  }

  @Override
  public <T> T getValue(String key, Class<T> type) {
    return getOptionalValue(key, type).orElseThrow(NoSuchElementException::new);
  }

  @Override
  public <T> Optional<T> getOptionalValue(String key, Class<T> type) {
    return Optional.ofNullable(type.cast(getConfigValue(key).getValue()));
  }

  @Override
  public <T> Optional<Converter<T>> getConverter(Class<T> type) {
    return Optional.empty();
  }

  @Override
  public <T> T unwrap(Class<T> type) {
    throw new IllegalArgumentException("there is no " + type + " in here");
  }
}
