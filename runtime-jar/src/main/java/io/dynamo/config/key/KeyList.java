package io.dynamo.config.key;

import java.util.ArrayList;
import java.util.List;

/** The keys of one area, in the order of the documentation. */
public final class KeyList {
  private final List<SettingKey<?>> keys = new ArrayList<>();

  /**
   * Adds a key.
   *
   * @param standard its default value; empty for none
   * @param aliases its names in the environment of the original
   */
  public <T> SettingKey<T> key(
      String name,
      SettingType<T> type,
      String standard,
      Bound<T> bound,
      String meaning,
      Alias... aliases) {
    var key = new SettingKey<>(name, type, standard, bound, meaning, List.of(aliases));
    keys.add(key);
    return key;
  }

  public void addAll(List<SettingKey<?>> others) {
    keys.addAll(others);
  }

  public List<SettingKey<?>> all() {
    return List.copyOf(keys);
  }
}
