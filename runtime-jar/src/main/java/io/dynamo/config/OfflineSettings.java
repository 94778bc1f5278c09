package io.dynamo.config;

import io.dynamo.config.key.InvalidSettingsException;
import io.dynamo.config.key.Lookup;
import java.io.IOException;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.LinkedHashSet;
import java.util.Map;
import java.util.Properties;
import java.util.Set;
import org.jspecify.annotations.Nullable;

/**
 * The settings that a server started in this environment with this file would read, without a
 * server: system properties, environment and file, in this order. Needs only the JDK. Immutable.
 */
public final class OfflineSettings {
  private final Map<String, String> environment;
  private final Properties file;
  private final String fileName;

  private OfflineSettings(Map<String, String> environment, Properties file, String fileName) {
    this.environment = environment;
    this.file = file;
    this.fileName = fileName;
  }

  /**
   * Reads the file.
   *
   * @param path the operator's file; null for none
   * @throws IllegalArgumentException when the file has a malformed escape
   */
  public static OfflineSettings of(Map<String, String> environment, @Nullable Path path)
      throws IOException {
    var file = new Properties();
    if (path != null) {
      try (var reader = Files.newBufferedReader(path, StandardCharsets.UTF_8)) {
        file.load(reader);
      }
    }
    return new OfflineSettings(Map.copyOf(environment), file, String.valueOf(path));
  }

  /** Returns the number of settings that there are. */
  public int count() {
    return SettingKeys.all().size();
  }

  /**
   * Lists the settings.
   *
   * @param part lists only those whose key contains this
   */
  public SettingsListing listing(String part) {
    return SettingsListing.of(this::find, part);
  }

  /**
   * Reads and checks all settings, as the server does.
   *
   * @throws InvalidSettingsException listing every bad value and every unknown name
   */
  public Settings read() {
    Lookup lookup = this::find;
    return SettingsReader.read(
        lookup, names(), new ArrayList<>(UnsupportedVariables.refusals(environment, lookup)));
  }

  /** Returns the variables that have no effect here, with reasons; null when there are none. */
  public @Nullable String variablesWithoutEffect() {
    return UnsupportedVariables.report(environment);
  }

  private Set<GivenName> names() {
    var names = new LinkedHashSet<GivenName>();
    environment.keySet().stream().sorted().map(GivenName::variable).forEach(names::add);
    file.stringPropertyNames().stream()
        .sorted()
        .map(name -> GivenName.in(fileName, name))
        .forEach(names::add);
    return names;
  }

  private Lookup.@Nullable SettingText find(String name) {
    var property = System.getProperty(name);
    if (property != null) {
      return new Lookup.SettingText(property, "the system properties");
    }
    var found = inEnvironment(name);
    var text = file.getProperty(name);
    return found != null || text == null ? found : new Lookup.SettingText(text, fileName);
  }

  private Lookup.@Nullable SettingText inEnvironment(String name) {
    for (var variable : UnknownNames.variables(name)) {
      var text = environment.get(variable);
      if (text != null) {
        return new Lookup.SettingText(text, "the variable " + variable);
      }
    }
    var alias = SettingKeys.alias(name, environment::get);
    return alias == null
        ? null
        : new Lookup.SettingText(
            alias.translation().apply(environment.getOrDefault(alias.variable(), "").strip()),
            "the variable " + alias.variable());
  }
}
