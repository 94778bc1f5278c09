package io.dynamo.config;

import io.dynamo.config.key.Alias;
import io.dynamo.config.key.Lookup;
import io.dynamo.config.key.SettingKey;
import io.dynamo.json.Json;
import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.stream.Stream;
import org.eclipse.microprofile.config.Config;
import org.jspecify.annotations.Nullable;

/**
 * All settings with their values, for operators, as text or as JSON. Values that may hold
 * credentials are not shown. Immutable.
 */
public final class SettingsListing {
  private static final String DEFAULT = "default";
  private static final String HIDDEN = "***";

  /**
   * A setting and its value.
   *
   * @param value as it is written; null when the setting has none
   * @param source where the value comes from
   */
  record Row(SettingKey<?> key, @Nullable String value, String source) {
    /** Returns the environment variables that set it. */
    List<String> variables() {
      return Stream.concat(
              Stream.of(UnknownNames.variables(key.name()).getLast()),
              key.aliases().stream().map(Alias::variable))
          .toList();
    }
  }

  private final List<Row> rows;

  private SettingsListing(List<Row> rows) {
    this.rows = rows;
  }

  /** Lists the settings of a server that reads {@code config}. */
  public static SettingsListing of(Config config) {
    return of(new SettingSources(config)::find);
  }

  /** Lists the settings as {@code lookup} finds them. */
  static SettingsListing of(Lookup lookup) {
    return of(lookup, "");
  }

  /** Lists the settings whose key contains {@code part}. */
  static SettingsListing of(Lookup lookup, String part) {
    return new SettingsListing(
        SettingKeys.all().stream()
            .filter(key -> key.name().contains(part))
            .map(key -> row(key, lookup))
            .toList());
  }

  private static Row row(SettingKey<?> key, Lookup lookup) {
    Lookup.SettingText found;
    try {
      found = lookup.find(key.name());
    } catch (IllegalArgumentException e) {
      return new Row(key, null, String.valueOf(e.getMessage()));
    }
    if (found != null && !found.text().isBlank()) {
      return new Row(key, key.type().isSecret() ? HIDDEN : found.text().strip(), found.source());
    }
    return new Row(key, key.standard().isEmpty() ? null : key.standard(), DEFAULT);
  }

  List<Row> rows() {
    return rows;
  }

  /** Whether no setting is listed. */
  public boolean isEmpty() {
    return rows.isEmpty();
  }

  /** Returns three lines per setting: its value and source, its meaning, its syntax. */
  public String text() {
    var text = new StringBuilder();
    for (var row : rows) {
      var key = row.key;
      text.append(key.name())
          .append(row.value == null ? " is not set" : " = " + row.value)
          .append(" (")
          .append(row.source)
          .append(")\n    ")
          .append(key.meaning())
          .append("\n    ")
          .append(key.type().name())
          .append(key.bound().text().isEmpty() ? "" : ", " + key.bound().text())
          .append(key.standard().isEmpty() ? "; no default" : "; default " + key.standard())
          .append("; ")
          .append(String.join(", ", names(row)))
          .append('\n');
    }
    return text.toString();
  }

  /** Returns the environment names; those with a unit of their own show it. */
  private static List<String> names(Row row) {
    return Stream.concat(
            Stream.of(row.variables().getFirst()),
            row.key.aliases().stream()
                .map(
                    it ->
                        it.unit().isEmpty()
                            ? it.variable()
                            : it.variable() + " (" + it.unit() + ")"))
        .toList();
  }

  /**
   * Returns the settings as a JSON object with the keys in the order of the documentation: value,
   * source, default, type, bound and the variables that set each.
   */
  public Map<String, @Nullable Object> members() {
    var members = new LinkedHashMap<String, @Nullable Object>();
    for (var row : rows) {
      var member = new LinkedHashMap<String, @Nullable Object>();
      member.put("value", row.value);
      member.put("source", row.source);
      member.put("default", row.key.standard().isEmpty() ? null : row.key.standard());
      member.put("type", row.key.type().name());
      member.put("bound", row.key.bound().text().isEmpty() ? null : row.key.bound().text());
      member.put("meaning", row.key.meaning());
      member.put("variables", row.variables());
      members.put(row.key.name(), member);
    }
    return members;
  }

  /**
   * Writes all settings to {@code file}, which is replaced if it exists: one JSON object, its
   * members the keys in the order of the documentation.
   *
   * @throws IllegalArgumentException when the file cannot be written
   */
  public void writeJson(Path file) {
    var members = new LinkedHashMap<String, @Nullable Object>();
    for (var row : rows) {
      var member = new LinkedHashMap<String, @Nullable Object>();
      member.put("value", row.value);
      member.put("source", row.source);
      members.put(row.key.name(), member);
    }
    try {
      Files.write(file, Json.write(members));
    } catch (IOException e) {
      throw new IllegalArgumentException(
          "%s = \"%s\" cannot be written: %s; name a file in a folder that this server may write, or leave it out"
              .formatted(ServerKeys.DUMP_TO.name(), file, e),
          e);
    }
  }
}
