package io.dynamo.config.key;

import java.util.List;

/**
 * A setting: its key, type, default, bound, and further names.
 *
 * @param standard the default as a text that is read like any other; {@code ${name}} and {@code
 *     ${name:otherwise}} in it refer to other entries of the configuration; empty means absent
 * @param meaning for the documentation: one line
 * @param aliases its names in the environment of the original; of two that are set, the later
 *     counts
 */
public record SettingKey<T>(
    String name,
    SettingType<T> type,
    String standard,
    Bound<T> bound,
    String meaning,
    List<Alias> aliases) {
  public SettingKey {
    aliases = List.copyOf(aliases);
  }
}
